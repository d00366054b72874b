package watch

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// The moments that end a batch. A save is a few events within a millisecond; a
// checkout of a branch is hundreds.
const (
	quiet      = 8 * time.Millisecond
	quietMany  = 100 * time.Millisecond
	many       = 5 // files
	mostOfFew  = 100 * time.Millisecond
	mostOfMany = time.Second

	quietBuilt      = 500 * time.Millisecond // output of a framework's build, which has pauses
	quietUnfinished = 3 * time.Second        // output without the files that a build writes last
	mostOfBuilt     = 10 * time.Second
)

// Batch is what has changed: absolute paths, sorted.
type Batch struct {
	Of    *Watcher
	Paths []string
}

// Config configures a Watcher.
type Config struct {
	Root string            // directory, absolute
	Out  chan<- Batch      // unbuffered: what changes while nothing receives is in the next batch
	Warn func(text string) // called at most once, if watching is not possible; may be nil

	add func(system func(dir string) error) func(dir string) error // for tests; nil for the system's
}

// Watcher reports changes. Its methods are safe for concurrent use.
type Watcher struct {
	root   string
	source source
	out    chan<- Batch
	stop   chan struct{}
	done   sync.WaitGroup

	busy func() bool // another program changes many files

	mu     sync.Mutex
	also   map[string]bool
	read   reading
	built  output
	exists func(path string) bool
}

// source reports single changes.
type source interface {
	// events returns the channel of paths. It is never closed.
	events() <-chan string
	// also adds files and directories that are outside of the tree, or in parts of it that are not entered.
	also(files []string)
	close()
}

// New starts watching. The caller closes the Watcher.
func New(c Config) (*Watcher, error) {
	s, err := newNotify(c)
	if err != nil {
		return nil, err
	}
	return start(c.Root, s, c.Out, func() bool { return gitWorks(c.Root) }), nil
}

func start(root string, s source, out chan<- Batch, busy func() bool) *Watcher {
	w := &Watcher{root: root, source: s, busy: busy, exists: onDisk, out: out, stop: make(chan struct{}), also: map[string]bool{}}
	w.done.Go(w.run)
	return w
}

// Also replaces the list of files and directories to report beside those of the tree. They
// need not exist yet.
func (w *Watcher) Also(files []string) {
	set := map[string]bool{}
	for _, f := range files {
		if !entered(w.root, f) {
			set[f] = true
		}
	}
	w.mu.Lock()
	w.also = set
	w.mu.Unlock()
	w.source.also(slices.Sorted(maps.Keys(set)))
}

// Settle waits until no other program changes many files, or ctx ends.
func (w *Watcher) Settle(ctx context.Context) {
	tick := time.NewTicker(busyPause)
	defer tick.Stop()
	for w.busy() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Close stops watching.
func (w *Watcher) Close() {
	close(w.stop)
	w.done.Wait()
	w.source.close()
}

// run collects changes into batches.
func (w *Watcher) run() {
	b := batch{paths: map[string]bool{}, due: time.NewTimer(time.Hour)}
	b.due.Stop() // until there is a path
	defer b.due.Stop()
	for {
		out := w.out
		if !b.ripe {
			out = nil
		}
		select {
		case <-w.stop:
			return
		case path := <-w.source.events():
			if wants, built := w.judge(path); wants {
				b.add(path, built)
			}
		case <-b.due.C:
			if b.ripe = !w.busy() && w.complete(&b) && !b.halfWritten(); !b.ripe {
				b.due.Reset(busyPause)
			}
		case out <- Batch{w, slices.Sorted(maps.Keys(b.paths))}:
			b.paths, b.ripe = map[string]bool{}, false
		}
	}
}

// judge reports whether a path is a change, and one that a framework's build makes.
func (w *Watcher) judge(path string) (wants, built bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.built.between(path) {
		return false, false
	}
	wants = w.also[path] || (entered(w.root, path) || named(w.also, path)) && w.read.matters(path)
	return wants, w.built.has(path)
}

// batch is what has changed since the last batch.
type batch struct {
	paths  map[string]bool
	built  bool // some of them are output of a framework's build
	began  time.Time
	latest time.Time // change
	due    *time.Timer
	ripe   bool
}

func (b *batch) add(path string, built bool) {
	now := time.Now()
	if len(b.paths) == 0 {
		b.began, b.built = now, false
	}
	b.paths[path], b.latest = true, now
	b.built = b.built || built
	wait, most := quiet, mostOfFew
	switch {
	case b.built:
		wait, most = quietBuilt, mostOfBuilt
	case len(b.paths) >= many:
		wait, most = quietMany, mostOfMany
	}
	b.ripe = false
	b.due.Reset(max(0, min(wait, most-now.Sub(b.began))))
}

// emptyLimit is how long a batch waits for the content of an empty file. Programs that write a file
// in place empty it first.
const emptyLimit = 300 * time.Millisecond

// halfWritten reports whether a file of the batch is empty and may have been emptied to be written.
func (b *batch) halfWritten() bool {
	if time.Since(b.latest) >= emptyLimit {
		return false
	}
	for path := range b.paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			return true
		}
	}
	return false
}

// entered reports whether path is a file of the tree that the watcher enters.
func entered(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	for dir := range strings.SplitSeq(filepath.Dir(rel), string(filepath.Separator)) {
		if skipped(dir) {
			return false
		}
	}
	return true
}

// skipped reports whether directories of this name are not entered. Workers serve files
// from .well-known (RFC 8615).
func skipped(name string) bool {
	return name == "node_modules" || len(name) > 1 && name[0] == '.' && name != ".well-known"
}
