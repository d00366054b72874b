package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// HasSwap reports whether the machine has swap.
func HasSwap() (bool, error) {
	text, err := os.ReadFile("/proc/swaps")
	return strings.Count(strings.TrimSpace(string(text)), "\n") > 0, err
}

// Swapped is the memory in bytes of a process that is in swap.
func Swapped(pid int) (int64, error) { return rollup(pid, "Swap:") }

// Compression is the share of its size that swapped memory still takes: less than 1 in zram, 0
// on a disk.
func Compression() (float64, error) {
	text, err := os.ReadFile("/sys/block/zram0/mm_stat")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var original, compressed, used float64
	if _, err := fmt.Sscan(string(text), &original, &compressed, &used); err != nil || original == 0 {
		return 0, err
	}
	return used / original, nil
}
