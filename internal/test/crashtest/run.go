package crashtest

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"
)

//nolint:gochecknoglobals // flags of a test binary
var (
	duration = flag.Duration("crash.duration", 0, "duration of each crash test; 0 is the short form")
	seed     = flag.Uint64("crash.seed", 0, "seed of the crash tests; 0 takes one from the clock")
)

// Duration is how long a test runs: short, unless -crash.duration says more.
func Duration(short time.Duration) time.Duration {
	if *duration > 0 {
		return *duration
	}
	return short
}

// Long reports whether this is the long form.
func Long() bool { return *duration > 0 }

// Rand is the dice of a test. The test logs the seed that repeats them.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", s)
	return rand.New(rand.NewPCG(s, 1)) //nolint:gosec // dice
}
