//go:build !failpoint

package config

import "time"

// leastGrace is the shortest SVC_GC_GRACE: a fork may take a quarter of it, and
// so may what a runtime plans to read.
const leastGrace = time.Minute
