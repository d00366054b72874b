//go:build !linux

package cputime

import "time"

// Of returns 0: processor time is not measured on this platform.
func Of(int) time.Duration { return 0 }

// ThreadOf reports ok false: it is not measured on this platform.
func ThreadOf(int) (t Thread, ok bool) { return t, false }
