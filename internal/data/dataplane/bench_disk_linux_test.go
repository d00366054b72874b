package dataplane_test

import (
	"testing"

	"golang.org/x/sys/unix"
)

// onDisk fails the benchmark when the temporary directory is in memory, where fsync costs nothing.
func onDisk(b *testing.B) {
	b.Helper()
	var fs unix.Statfs_t
	try(b, unix.Statfs(b.TempDir(), &fs))
	if fs.Type == unix.TMPFS_MAGIC {
		b.Fatal("the temporary directory is in memory: set TMPDIR to one on a disk")
	}
}
