package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// watcher is a Watcher and what it reports.
type watcher struct {
	*Watcher

	out chan Batch
}

func begin(root string, s source, busy func() bool) *watcher {
	out := make(chan Batch)
	return &watcher{start(root, s, out, busy), out}
}

// open begins to watch with the system's source.
func open(c Config) (*watcher, error) {
	out := make(chan Batch)
	c.Out = out
	w, err := New(c)
	return &watcher{w, out}, err
}

// watched runs a test with both sources.
func watched(t *testing.T, test func(t *testing.T, root string, w *watcher)) {
	t.Helper()
	watchedIn(t, func(*testing.T, string) {}, test)
}

// watchedIn is watched in a directory that prepare has filled.
func watchedIn(t *testing.T, prepare func(t *testing.T, root string), test func(t *testing.T, root string, w *watcher)) {
	t.Helper()
	t.Run("notify", func(t *testing.T) {
		t.Parallel()
		root := realDir(t)
		prepare(t, root)
		w, err := open(Config{Root: root, Warn: func(text string) { t.Error(text) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Close)
		test(t, root, w)
	})
	t.Run("poll", func(t *testing.T) {
		t.Parallel()
		root := realDir(t)
		prepare(t, root)
		n := &notify{root: root, out: make(chan string, 256), stop: make(chan struct{}), warn: func(string) {}}
		if err := n.fallBack(os.ErrPermission); err != nil {
			t.Fatal(err)
		}
		w := begin(root, n, func() bool { return gitWorks(root) })
		t.Cleanup(w.Close)
		test(t, root, w)
	})
}

func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// expect waits until every path was reported.
func expect(t *testing.T, w *watcher, paths ...string) {
	t.Helper()
	left := map[string]bool{}
	for _, path := range paths {
		left[path] = true
	}
	for len(left) > 0 {
		for _, path := range svctest.Wait(t, fmt.Sprintf("changes of %d files, such as %s", len(left), paths[0]), w.out).Paths {
			delete(left, path)
		}
	}
}

// expectOr waits until the path was reported, or the root in its place.
func expectOr(t *testing.T, w *watcher, root, path string) {
	t.Helper()
	for {
		batch := svctest.Wait(t, "changes of "+path, w.out).Paths
		if slices.Contains(batch, path) || slices.Contains(batch, root) {
			return
		}
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	watched(t, func(t *testing.T, root string, w *watcher) {
		at := func(name string) string { return filepath.Join(root, name) }
		write(t, at("index.js"), "1")
		expect(t, w, at("index.js"))
		write(t, at("deep/er/new.js"), "1") // directories that are made later
		expect(t, w, at("deep/er/new.js"))
		write(t, at("deep/er/new.js"), "12")
		expect(t, w, at("deep/er/new.js"))
		write(t, at("index.js.tmp"), "an editor's atomic save")
		if err := os.Rename(at("index.js.tmp"), at("index.js")); err != nil {
			t.Fatal(err)
		}
		expect(t, w, at("index.js"))
		if err := os.Remove(at("index.js")); err != nil {
			t.Fatal(err)
		}
		expect(t, w, at("index.js"))
		write(t, at("index.js"), "and back")
		expect(t, w, at("index.js"))
	})
}

// Files of other places are reported when they are named, and only they.
func TestAlso(t *testing.T) {
	t.Parallel()
	watched(t, func(t *testing.T, root string, w *watcher) {
		other := realDir(t)
		shared, unknown := filepath.Join(other, "shared.js"), filepath.Join(other, "unknown.js")
		module := filepath.Join(root, "node_modules/x/index.js")
		write(t, shared, "1")
		write(t, module, "1")
		w.Also([]string{shared, module, filepath.Join(root, "index.js")})
		write(t, unknown, "1")
		write(t, shared, "12")
		write(t, module, "12")
		for left := []string{shared, module}; len(left) > 0; {
			batch := svctest.Wait(t, "changes", w.out).Paths
			if slices.Contains(batch, unknown) {
				t.Errorf("reported %v", batch)
			}
			left = slices.DeleteFunc(left, func(p string) bool { return slices.Contains(batch, p) })
		}
	})
}

// limited is a system that has a number of watches.
func limited(watches *atomic.Int64) func(func(string) error) func(string) error {
	return func(add func(string) error) func(string) error {
		return func(dir string) error {
			if watches.Add(-1) < 0 {
				return &os.PathError{Op: "inotify_add_watch", Path: dir, Err: syscall.ENOSPC}
			}
			return add(dir)
		}
	}
}

// Without watches left, at the start, for a new directory or for a file that a build names,
// the files are compared, and the reason is said once.
func TestWatchLimit(t *testing.T) {
	t.Parallel()
	for name, watches := range map[string]int64{"at the start": 1, "for a new directory": 2, "for a named file": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := realDir(t)
			at := func(name string) string { return filepath.Join(root, name) }
			write(t, at("src/a"), "1")
			write(t, at("node_modules/b/c"), "1")
			var said svctest.Buffer
			var left atomic.Int64
			left.Store(watches)
			w, err := open(Config{Root: root, Warn: func(text string) { fmt.Fprintln(&said, text) }, add: limited(&left)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(w.Close)
			write(t, at("src/new/a"), "1")
			expectOr(t, w, root, at("src/new/a"))
			w.Also([]string{at("node_modules/b/c")})
			for _, file := range []string{"src/a", "src/new/a", "node_modules/b/c"} {
				write(t, at(file), "12")
				expect(t, w, at(file))
			}
			if text := said.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "no file watches left") || !strings.Contains(text, "every 300ms") {
				t.Errorf("said %q", text)
			}
		})
	}
}

func TestMissingRoot(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{Root: filepath.Join(t.TempDir(), "absent")}); err == nil {
		t.Error("no error")
	}
}
