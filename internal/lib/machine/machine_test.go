package machine_test

import (
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/lib/machine"
)

// TestDiskOf: a disk has more room than a file needs, and a missing path is an error.
func TestDiskOf(t *testing.T) {
	t.Parallel()
	d, err := machine.DiskOf(t.TempDir())
	if err != nil || d.Free <= 0 || d.Total < d.Free {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := machine.DiskOf(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a missing directory has a disk")
	}
}
