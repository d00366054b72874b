//go:build !linux

package dataplane

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// bootID identifies the current boot of the machine.
func bootID() (string, error) {
	at, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d.%06d", at.Sec, at.Usec), nil
}
