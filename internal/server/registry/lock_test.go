package registry_test

import (
	"os"
	"path/filepath"
	"strings"
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

// TestDirectory: the directory of SVC_REGISTRY_DB is created; a path that cannot be one
// is named.
func TestDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := registry.Open(t.Context(), filepath.Join(dir, "a", "b", "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(file, "registry.db")
	if _, err := registry.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}
