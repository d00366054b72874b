package svctest

import (
	"os"
	"path/filepath"
	"testing"
)

// Files writes files, by their paths with forward slashes, into a temporary directory and
// returns it. Scripts among them can be executed.
func Files(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // see above
			t.Fatal(err)
		}
	}
	return dir
}

// ShortDir returns a temporary directory that is removed when the test ends. The
// paths of t.TempDir are too long for unix sockets.
func ShortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "svc") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // what a killed process left may be in use still
	return dir
}
