package machine

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Disk is the size of a disk and its room, in bytes.
type Disk struct{ Total, Free int64 }

// DiskOf returns the disk that holds path. Free is what this process may still write: root
// may use reserved blocks.
func DiskOf(path string) (Disk, error) {
	var d unix.Statfs_t
	if err := unix.Statfs(path, &d); err != nil {
		return Disk{}, fmt.Errorf("read the free space of the disk of %s: %w", path, err)
	}
	free := uint64(d.Bavail) //nolint:unconvert // its type differs between systems; it is not negative
	if os.Geteuid() == 0 {
		free = d.Bfree
	}
	block := uint64(d.Bsize)                                                    //nolint:gosec // positive
	return Disk{Total: int64(d.Blocks * block), Free: int64(free * block)}, nil //nolint:gosec // no disk has 8 EiB
}
