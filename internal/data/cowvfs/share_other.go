//go:build !linux

package cowvfs

import (
	"errors"
	"fmt"
	"os"
)

func shareBlocks(_, _ *os.File) error {
	return fmt.Errorf("share blocks: %w", errors.ErrUnsupported)
}
