package svctest

import (
	"os"
	"testing"
)

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
