package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
)

const (
	devLook  = time.Millisecond // between two requests for a save
	devLimit = 30 * time.Second // for a save
	wrangler = "wrangler dev"
)

// edited is a fixture, what of it a save changes, and the npm package that it imports.
type edited struct{ fixture, before, after, imports string }

func edits() []edited {
	return []edited{
		{"hello", "Hello, world!", "Hello, %d!", ""},
		{"hono", "save: 0 }", "save: %d }", "hono"},
	}
}

// loop is a running development server on a copy of a fixture.
type loop struct {
	edited

	dir    string
	target load.Target
	pid    int
	stop   func()
	saved  func() // tells a server that does not watch files
	saves  int
}

// copy copies a fixture: saves change it.
func (b *bench) copy(ctx context.Context, name string, e edited) (string, error) {
	dir, err := os.MkdirTemp(b.program.Scratch, "dev-"+strings.Fields(name)[0]+"-")
	if err != nil {
		return "", err
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(b.program.Root, "fixtures", e.fixture))); err != nil || e.imports == "" {
		return dir, err
	}
	if name == miniflare {
		return dir, b.bundle(ctx, dir, e.imports)
	}
	return dir, os.Symlink(filepath.Join(b.program.Root, "node_modules"), filepath.Join(dir, "node_modules"))
}

// bundle bundles a package for miniflare, whose Node API has no bundler: before anything is
// measured, so that its save is setOptions alone.
func (b *bench) bundle(ctx context.Context, dir, name string) error {
	modules := filepath.Join(b.program.Root, "node_modules")
	out, err := exec.CommandContext(ctx, filepath.Join(modules, ".bin", "esbuild"), filepath.Join(modules, name), "--bundle", "--format=esm",
		"--conditions=workerd,worker,browser", "--log-level=error", "--outfile="+filepath.Join(dir, "packages", name+".js")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("bundling %s: %w: %s", name, err, out)
	}
	return nil
}

// loop starts a development server and returns when it has answered.
func (b *bench) loop(ctx context.Context, name, dir string, e edited) (*loop, error) {
	l := &loop{edited: e, dir: dir, saved: func() {}}
	if name == svcctl {
		d, err := b.program.Dev(ctx, dir)
		if err != nil {
			return nil, err
		}
		l.target, l.pid, l.stop = d.Target, d.PID, d.Stop
		return l, nil
	}
	start := b.peers.MiniflareAt
	if name == wrangler {
		start = b.peers.Wrangler
	}
	running, err := start(ctx, dir)
	if err != nil {
		return nil, err
	}
	l.target, l.pid, l.stop = running.Target, running.PID, running.Stop
	if name == miniflare {
		l.saved = func() { _ = syscall.Kill(l.pid, syscall.SIGUSR2) } // without it, the save is not served
	}
	return l, nil
}

// save changes the worker in place and returns the time until it answers.
func (l *loop) save(ctx context.Context) (time.Duration, error) {
	file := filepath.Join(l.dir, "src/index.js")
	source, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	old := l.before
	if l.saves > 0 {
		old = fmt.Sprintf(l.after, l.saves)
	}
	l.saves++
	text := fmt.Sprintf(l.after, l.saves)
	if !strings.Contains(string(source), old) {
		return 0, fmt.Errorf("%s has no %q", file, old)
	}
	began := time.Now()
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(source), old, text)), 0o600); err != nil { //nolint:gosec // a directory of ours
		return 0, err
	}
	l.saved()
	want := fmt.Sprint(l.saves)
	for time.Since(began) < devLimit {
		body, err := l.ask(ctx)
		if err == nil && (strings.Contains(body, " "+want+"!") || strings.Contains(body, ":"+want+"}")) {
			return time.Since(began), nil
		}
		if err := wait(ctx, devLook); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("%s: save %d is not served after %v", l.dir, l.saves, devLimit)
}

func (l *loop) ask(ctx context.Context) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.target.Address+"/", nil)
	if err != nil {
		return "", err
	}
	req.Host = l.target.Host
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}
