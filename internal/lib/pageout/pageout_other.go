//go:build !linux

package pageout

import (
	"errors"
	"fmt"
)

// Out reports errors.ErrUnsupported: the kernel decides alone.
func Out(int) error { return fmt.Errorf("paging a process out: %w", errors.ErrUnsupported) }
