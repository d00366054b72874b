package torturetest

import (
	"flag"
	"math/rand/v2"
	"time"
)

//nolint:gochecknoglobals // flags of a test binary
var (
	duration = flag.Duration("torture.duration", 0, "how long each torture test goes on; 0 is short")
	seed     = flag.Uint64("torture.seed", 0, "seed of the torture tests; 0 takes one of the clock")
)

// Log is where a test says its seed.
type Log interface {
	Helper()
	Logf(format string, args ...any)
}

// Duration is how long a test goes on: short, unless -torture.duration says more.
func Duration(short time.Duration) time.Duration {
	if *duration > 0 {
		return *duration
	}
	return short
}

// Long says whether this is the long form.
func Long() bool { return *duration > 0 }

// Rand is the dice of a test, which tells how they can be thrown again.
func Rand(t Log) *rand.Rand {
	t.Helper()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", s)
	return rand.New(rand.NewPCG(s, 1)) //nolint:gosec // dice
}
