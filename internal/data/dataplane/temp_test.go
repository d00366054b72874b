package dataplane_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/data/memstore"
)

// TestTemp: files left by a crashed process are deleted when the next one opens the version.
func TestTemp(t *testing.T) {
	t.Parallel()
	dir, bucket := t.TempDir(), new(memstore.Bucket)
	v := openOn(t, bucket, dir)
	database(t, v, "a")
	var names []string
	for range 2 {
		f, err := v.Temp()
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Name())
	}
	if names[0] == names[1] || filepath.Dir(names[0]) != filepath.Join(dir, "tmp") {
		t.Errorf("made %v", names)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	database(t, openOn(t, bucket, dir), "a")
	if _, err := os.Stat(names[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}
