//go:build linux && (amd64 || arm64)

package raw_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// A lock of another process, for which an open file description stands here, is respected.
func TestForeignLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	c, err := raw.Open(path, raw.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Script("CREATE TABLE t (x)"); err != nil {
		t.Fatal(err)
	}
	other, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	const pendingByte = 1 << 30 // the engine's locks begin there
	lock := unix.Flock_t{Type: unix.F_RDLCK, Start: pendingByte, Len: 512}
	if err := unix.FcntlFlock(other.Fd(), unix.F_OFD_SETLK, &lock); err != nil {
		t.Fatal(err)
	}
	if err, ok := errors.AsType[*raw.Error](c.Exec("INSERT INTO t VALUES (1)")); !ok || err.Code.Primary() != raw.Busy {
		t.Errorf("with the lock: %v", err)
	}
	if err := errors.Join(other.Close(), c.Exec("INSERT INTO t VALUES (1)")); err != nil {
		t.Errorf("without the lock: %v", err)
	}
}
