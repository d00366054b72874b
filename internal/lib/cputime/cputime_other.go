//go:build !linux

package cputime

import "time"

// Of returns 0: processor time is not measured on this platform.
func Of(int) time.Duration { return 0 }

// DiskOf reports ok false: it is not measured on this platform.
func DiskOf(int) (d Disk, ok bool) { return d, false }
