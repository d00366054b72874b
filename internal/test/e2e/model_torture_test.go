//go:build e2e && torture

package e2e

import (
	"flag"
	"testing"
	"time"
)

var (
	modelOperations = flag.Int("model.operations", 16, "operations of TestModel") // 16 take about 10 s
	modelSeed       = flag.Uint64("model.seed", 7, "seed of TestModel; 0 takes one from the clock")
)

// TestModel is TestModelShort with up to three operations at the same time, and requests that
// must not fail without a fault. It is not in the normal suite, whose machines may hold a
// request for longer than the gateway does. The long form is -model.operations=2000
// -model.seed=0.
func TestModel(t *testing.T) {
	t.Parallel()
	seed := *modelSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	runModel(t, seed, *modelOperations, false)
}
