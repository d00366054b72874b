package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

const (
	columns = 118
	lines   = 40
)

// recorder is a terminal with a shell that records one chapter. Its methods do nothing after
// one has failed; end returns the error.
type recorder struct {
	ctx   context.Context //nolint:containedctx // of one chapter
	world *world
	dir   string   // below the home
	env   []string // beside that of the world
	plain bool     // no terminal, as in a job
	err   error

	mu      sync.Mutex // guards what follows
	output  bytes.Buffer
	changed chan struct{} // receives after output was written
	read    int           // bytes of output that were awaited
}

func (w *world) record(ctx context.Context) *recorder {
	return &recorder{ctx: ctx, world: w, changed: make(chan struct{}, 1)}
}

// Write records output.
func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.output.Write(p)
	select {
	case r.changed <- struct{}{}:
	default:
	}
	return len(p), nil
}

// chapter ends a chapter, which has what was shown since the last one.
func (r *recorder) chapter(name, title, guide string) chapter {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &screen{width: columns}
	s.print([]byte(r.world.shown(strings.Trim(r.output.String(), "\n"))))
	r.output.Reset()
	r.read = 0
	return chapter{name, title, guide, s}
}

func (r *recorder) try(f func() error) {
	if r.err == nil {
		r.err = f()
	}
}

// typed shows a command line.
func (r *recorder) typed(line string) {
	if r.err == nil {
		r.newLine()
		fmt.Fprintf(r, "\x1b[32m$\x1b[0m \x1b[1m%s\x1b[0m\n", line)
	}
}

// comment shows what happens outside of the terminal.
func (r *recorder) comment(format string, args ...any) {
	if r.err == nil {
		fmt.Fprintf(r, "\x1b[90m# "+format+"\x1b[0m\n", args...)
	}
}

// gap shows an empty line.
func (r *recorder) gap() {
	r.newLine()
	_, _ = r.Write([]byte("\n"))
}

// newLine ends a line that a program has left open.
func (r *recorder) newLine() {
	r.mu.Lock()
	open := r.output.Len() > 0 && !bytes.HasSuffix(r.output.Bytes(), []byte("\n"))
	r.mu.Unlock()
	if open {
		_, _ = r.Write([]byte("\n"))
	}
}

// cd changes the directory of the commands that follow.
func (r *recorder) cd(dir string) {
	r.typed("cd " + dir)
	r.dir = filepath.Join(r.dir, dir)
}

// run runs a command line, which ends with an exit code.
func (r *recorder) run(line string, code int) {
	r.try(func() error {
		p, err := r.start(line, "")
		if err != nil {
			return err
		}
		return p.end(code)
	})
}

var sequences = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

// sees waits for output that matches, after what was seen before.
func (r *recorder) sees(pattern string) {
	r.try(func() error {
		_, err := r.await(pattern)
		return err
	})
}

// await is sees, and returns what matched.
func (r *recorder) await(pattern string) ([]string, error) {
	re := regexp.MustCompile(pattern)
	for {
		r.mu.Lock()
		text := sequences.ReplaceAllString(r.output.String(), "")
		r.mu.Unlock()
		if at := re.FindStringSubmatchIndex(text[r.read:]); at != nil {
			found := re.FindStringSubmatch(text[r.read:])
			r.read += at[1]
			return found, nil
		}
		select {
		case <-r.changed:
		case <-r.ctx.Done():
			return nil, fmt.Errorf("no %q in\n%s", pattern, text[r.read:])
		}
	}
}

// show shows a file.
func (r *recorder) show(line, name string) {
	r.typed(line)
	r.try(func() error {
		data, err := os.ReadFile(filepath.Join(r.world.home, name))
		fmt.Fprintln(r, strings.TrimSpace(string(data)))
		return err
	})
}
