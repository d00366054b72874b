//go:build !linux

package workerhost

import "time"

// cpuTime is not measured here: the start of a worker has only its time limit.
func cpuTime(int) time.Duration { return 0 }
