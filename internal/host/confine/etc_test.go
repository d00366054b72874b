//go:build linux

package confine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/host/confine"
)

// TestPrivateSettings: a file that only the server's user may read keeps workerd from reading all
// of /etc.
func TestPrivateSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	has := func(want bool) {
		t.Helper()
		if got := confine.HasPrivate(dir); got != want {
			t.Errorf("private: %t, want %t", got, want)
		}
	}
	has(false)
	if err := os.WriteFile(filepath.Join(dir, "svcd.yaml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	has(false)
	secrets := filepath.Join(t.TempDir(), "tokens.yaml")
	if err := os.WriteFile(secrets, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secrets, filepath.Join(dir, "tokens.yaml")); err != nil { // as Kubernetes mounts them
		t.Fatal(err)
	}
	has(true)
	if confine.HasPrivate(filepath.Join(dir, "missing")) {
		t.Error("a directory that is missing has private files")
	}
}
