package watch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// watched runs a test with both sources.
func watched(t *testing.T, test func(t *testing.T, root string, w *Watcher)) {
	t.Run("notify", func(t *testing.T) {
		t.Parallel()
		root := realDir(t)
		w, err := New(Config{Root: root, Warn: func(text string) { t.Error(text) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Close)
		test(t, root, w)
	})
	t.Run("poll", func(t *testing.T) {
		t.Parallel()
		root := realDir(t)
		n := &notify{root: root, out: make(chan string, 256), stop: make(chan struct{}), warn: func(string) {}}
		if err := n.fallBack(os.ErrPermission); err != nil {
			t.Fatal(err)
		}
		w := start(root, n)
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
func expect(t *testing.T, w *Watcher, paths ...string) {
	t.Helper()
	for len(paths) > 0 {
		batch := svctest.Wait(t, "changes of "+strings.Join(paths, ", "), w.Changes())
		paths = slices.DeleteFunc(paths, func(p string) bool { return slices.Contains(batch, p) })
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	watched(t, func(t *testing.T, root string, w *Watcher) {
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
	watched(t, func(t *testing.T, root string, w *Watcher) {
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
			batch := svctest.Wait(t, "changes", w.Changes())
			if slices.Contains(batch, unknown) {
				t.Errorf("reported %v", batch)
			}
			left = slices.DeleteFunc(left, func(p string) bool { return slices.Contains(batch, p) })
		}
	})
}

// Without watches left, the files are compared, and the reason is said once.
func TestFallBack(t *testing.T) {
	t.Parallel()
	root := realDir(t)
	var said []string
	n, err := newNotify(Config{Root: root, Warn: func(text string) { said = append(said, text) }})
	if err != nil {
		t.Fatal(err)
	}
	n.mu.Lock()
	system := n.system
	n.mu.Unlock()
	_ = system.Close() // ends its goroutine, as the change to polling does
	n.done.Wait()
	for range 2 {
		if n.poll != nil {
			n.poll.close()
		}
		if err := n.fallBack(&os.PathError{Op: "add", Path: root, Err: os.ErrPermission}); err != nil {
			t.Fatal(err)
		}
	}
	w := start(root, n)
	t.Cleanup(w.Close)
	write(t, filepath.Join(root, "a"), "1")
	expect(t, w, filepath.Join(root, "a"))
	if len(said) != 1 || !strings.Contains(said[0], "permission denied") || !strings.Contains(said[0], "every 300ms") {
		t.Errorf("said %q", said)
	}
}

func TestMissingRoot(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{Root: filepath.Join(t.TempDir(), "absent")}); err == nil {
		t.Error("no error")
	}
}
