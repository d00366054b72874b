//go:build e2e

package e2e

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
)

var everyPoint = flag.Bool("faults.points", false, "kill the daemon at every failpoint of a test, not only at some that each run draws")

// drawn returns n of the cases in their order, others in each run: a failpoint costs seconds, and
// make torture passes them all. The names of the subtests say which ones were drawn.
func drawn[T any](t *testing.T, n int, cases []T) []T {
	t.Helper()
	if *everyPoint || n >= len(cases) {
		return cases
	}
	chosen := rand.Perm(len(cases))[:n]
	slices.Sort(chosen)
	some := make([]T, 0, n)
	for _, i := range chosen {
		some = append(some, cases[i])
	}
	t.Logf("drawn: %v", some)
	return some
}
