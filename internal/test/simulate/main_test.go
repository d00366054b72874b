//go:build simulate

package simulate

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

//nolint:gochecknoglobals // flags of the test binary
var (
	first   = flag.Uint64("simulate.first", 1, "first seed")
	seeds   = flag.Int("simulate.seeds", 20, "number of seeds")
	stride  = flag.Uint64("simulate.stride", 1, "distance between two seeds")
	seconds = flag.Duration("simulate.time", time.Hour, "maximum duration; no seed begins after it")
	stop    = flag.Int("simulate.stop", 3, "number of seeds with a violation after which the run ends")
	steps   = flag.Int("simulate.steps", 400, "number of decisions of a seed")
	seed    = flag.Uint64("simulate.seed", 1, "the seed to replay or shrink")
	keep    = flag.String("simulate.keep", "", "the decisions to replay, such as 0-12,40 (empty: all)")
	hashes  = flag.Bool("simulate.hashes", false, "print the hash of each trace")
)

// TestMain lets one goroutine run at a time, in an order that the seed decides. Collections of garbage
// run between seeds only.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	os.Exit(m.Run())
}
