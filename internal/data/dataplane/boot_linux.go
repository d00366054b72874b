package dataplane

import (
	"os"
	"strings"
)

// bootID identifies the current boot of the machine.
func bootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id)), err
}
