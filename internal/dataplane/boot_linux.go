package dataplane

import (
	"os"
	"strings"
)

// bootID differs from one run of the kernel to the next.
func bootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id)), err
}
