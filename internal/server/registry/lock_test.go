package registry_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestOneUser: a second daemon cannot open the registry, even with another data
// directory.
func TestOneUser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, other := filepath.Join(dir, "registry.db"), filepath.Join(dir, "link.db")
	first := registrytest.OpenAt(t, path)
	if err := os.Symlink(path, other); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, other} {
		if db, err := registry.Open(t.Context(), name); svc.CodeOf(err) != "registry_in_use" {
			t.Errorf("%s: %v, %v", name, db, err)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := registry.Open(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}
