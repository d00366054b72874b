package boot

import (
	"os"
	"strings"
)

// ID identifies the current boot of the machine.
func ID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id)), err
}
