package cowvfs

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// shareBlocks makes dst a copy-on-write clone of src. XFS and btrfs support it, ext4 does
// not.
func shareBlocks(dst, src *os.File) error {
	err := unix.IoctlFileClone(int(dst.Fd()), int(src.Fd()))
	for _, no := range []error{unix.EOPNOTSUPP, unix.ENOTTY, unix.EXDEV, unix.EINVAL, unix.ENOSYS} {
		if errors.Is(err, no) {
			return fmt.Errorf("share blocks: %w: %w", errors.ErrUnsupported, err)
		}
	}
	return err
}
