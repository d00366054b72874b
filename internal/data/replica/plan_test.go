package replica_test

import (
	"math/rand/v2"
	"testing"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/replica"
)

// TestPlanLastsLong: a reader of the newest transaction may use its plan for hours, so
// the plan has no superseded file, which would be deleted. The same is true of the cut
// that a child begins with.
func TestPlanLastsLong(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		b, m, rng := new(memstore.Bucket), newModel(seed), rand.New(rand.NewPCG(seed, 3))
		var base *branch.DatabaseBase
		for _, version := range []string{"root", "child", "grandchild"} {
			base = plansLast(t, b, m, rng, version, base)
		}
	}
}

// plansLast writes to a version and compacts it, and returns the base of a child.
func plansLast(t *testing.T, b objstore.Bucket, m *model, rng *rand.Rand, version string, base *branch.DatabaseBase) *branch.DatabaseBase {
	t.Helper()
	l, dead := open(t, b, version, base), map[string]bool{}
	for range 80 {
		data := m.tx(t)
		must(t, l.Append(t.Context(), m.txid, data))
		if rng.IntN(5) > 0 {
			continue
		}
		res, err := l.Compact(t.Context(), replica.Policy{Files: 2 + rng.IntN(4), SnapshotRatio: 0.5 + 5*rng.Float64()})
		must(t, err)
		for _, key := range res.Superseded {
			dead[key] = true
		}
		for _, log := range []*replica.Log{l, open(t, b, version, base)} {
			plan, err := log.Plan(log.Position())
			must(t, err)
			cut, err := log.Cut(log.Position())
			must(t, err)
			for _, f := range append(plan, cut.Files...) {
				if dead[f.Key()] {
					t.Fatalf("the plan of %d reads %s", log.Position(), f.Key())
				}
			}
		}
	}
	same(t, l, m, l.Position())
	cut, err := l.Cut(l.Position())
	must(t, err)
	return &cut
}
