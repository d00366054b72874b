package cputime

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// DiskOf returns what the main thread of a process has done so far; ok is false if the
// kernel does not count it, or does not say it to this process.
func DiskOf(pid int) (d Disk, ok bool) {
	io, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/io", pid, pid))
	status, statusErr := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, pid))
	if err != nil || statusErr != nil {
		return d, false
	}
	d.Waiting = strings.HasPrefix(field(status, "State:"), "D")
	d.Written, err = strconv.ParseInt(field(io, "write_bytes:"), 10, 64)
	d.Waits, statusErr = strconv.ParseInt(field(status, "voluntary_ctxt_switches:"), 10, 64)
	return d, err == nil && statusErr == nil
}

// field returns what stands behind the name that begins a line.
func field(text []byte, name string) string {
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
