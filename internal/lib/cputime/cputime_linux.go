package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Of returns the processor time that a process has used so far, in all its threads; 0 for
// one that is gone, and on platforms where it is not measured. The time of a process that
// only waits does not change. The clock is that of clock_getcpuclockid(3).
func Of(pid int) time.Duration {
	const scheduled = 2 // the clock that counts what the scheduler gave to the process
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil { //nolint:gosec // a pid has at most 22 bits
		return 0
	}
	return time.Duration(t.Nano())
}
