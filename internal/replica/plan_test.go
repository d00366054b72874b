package replica_test

import (
	"math/rand/v2"
	"testing"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/replica"
)

// TestPlanLastsLong: whoever opens the newest transaction may read from its plan
// for hours, so no file is in it that is superseded, and so deleted some time.
// The same is true of what a child begins with.
func TestPlanLastsLong(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		b, m, rng := new(objstore.Mem), newModel(seed), rand.New(rand.NewPCG(seed, 3))
		var base *branch.StoreBase
		for _, version := range []string{"root", "child", "grandchild"} {
			base = plansLast(t, b, m, rng, version, base)
		}
	}
}

// plansLast lets a version write and compact, and gives what a child begins with.
func plansLast(t *testing.T, b objstore.Bucket, m *model, rng *rand.Rand, version string, base *branch.StoreBase) *branch.StoreBase {
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
