package cputime

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ThreadOf returns what the main thread of a process has done so far; ok is false if the
// kernel does not count it, or does not say it to this process.
func ThreadOf(pid int) (t Thread, ok bool) {
	io, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/io", pid, pid))
	status, statusErr := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, pid))
	if err != nil || statusErr != nil {
		return t, false
	}
	t.Waiting = strings.HasPrefix(field(status, "State:"), "D")
	t.Written, err = strconv.ParseInt(field(io, "write_bytes:"), 10, 64)
	t.Waits, statusErr = strconv.ParseInt(field(status, "voluntary_ctxt_switches:"), 10, 64)
	t.Ran, t.Queued = scheduled(pid)
	return t, err == nil && statusErr == nil
}

// scheduled returns the time of a thread on a processor, and in the queue for one; zero if the
// kernel does not count it.
func scheduled(pid int) (ran, queued time.Duration) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, pid))
	if err != nil {
		return 0, 0
	}
	if _, err := fmt.Sscan(string(text), (*int64)(&ran), (*int64)(&queued)); err != nil {
		return 0, 0
	}
	return ran, queued
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
