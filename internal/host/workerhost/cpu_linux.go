package workerhost

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the CPU time that a process has used so far, in all its threads; 0
// for one that is gone. The clock is that of clock_getcpuclockid(3).
func cpuTime(pid int) time.Duration {
	const scheduled = 2 // the clock that counts what the scheduler gave to the process
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil { //nolint:gosec // a pid has at most 22 bits
		return 0
	}
	return time.Duration(t.Nano())
}
