package cowvfs

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// shareBlocks makes dst a copy of src that shares its blocks until either is
// written to: XFS and btrfs can, ext4 cannot.
func shareBlocks(dst, src *os.File) error {
	err := unix.IoctlFileClone(int(dst.Fd()), int(src.Fd()))
	for _, no := range []error{unix.EOPNOTSUPP, unix.ENOTTY, unix.EXDEV, unix.EINVAL, unix.ENOSYS} {
		if errors.Is(err, no) {
			return fmt.Errorf("sharing blocks: %w: %w", errors.ErrUnsupported, err)
		}
	}
	return err
}
