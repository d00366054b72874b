// Package pageout asks the kernel to move the memory of a process that rests to swap. The
// process continues; the kernel brings each page back when the process needs it.
//
// Only pages that the process alone has are moved: what it writes, and memory without a file.
// The pages of its program stay, for other processes may run the same one.
//
// Without swap nothing is moved. Another process than the own one needs the capability
// CAP_SYS_NICE; see [Denied]. On systems other than Linux, [Out] always fails.
//
// Concurrency: all functions are safe for concurrent use.
package pageout

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// Denied reports whether err of [Out] says that this process may not move the memory of
// another one, or that the kernel cannot.
func Denied(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported)
}

// HasSwap reports whether the machine has swap, on a disk or in compressed memory (zram).
func HasSwap() bool {
	text, err := os.ReadFile("/proc/swaps")
	return err == nil && hasSwap(string(text))
}

// hasSwap reads the list of swap areas, whose first line is a heading.
func hasSwap(list string) bool { return strings.Count(strings.TrimSpace(list), "\n") > 0 }
