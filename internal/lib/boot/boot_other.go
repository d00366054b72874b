//go:build !linux

package boot

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// ID identifies the current boot of the machine.
func ID() (string, error) {
	at, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d.%06d", at.Sec, at.Usec), nil
}
