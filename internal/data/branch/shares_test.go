package branch_test

import (
	"testing"
	"testing/synctest"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestShares: log files and blobs count for their version alone until a child needs
// them, and then for both.
func TestShares(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(memstore.Bucket)
		s := open(t, b)
		v1 := newVersionLog(t, s, b, "v1")
		inherited := v1.put()
		cut := v1.cut()
		v2 := v1.fork("v2", cut)
		acquire(t, s, "v2")
		v1.put()
		v2.put()
		v1.drop(inherited) // v2 needs it still
		usage := map[svc.Ref]branch.Usage{}
		r, err := s.Sweep(t.Context(), "p", branch.SweepOptions{DryRun: true, Shares: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range r.Versions {
			usage[u.Version] = u
		}
		one, two := usage[ref("v1")], usage[ref("v2")]
		if two.Inherited.Objects != len(cut.Files)+1 || two.Alone != two.Live || two.Live.Objects != 2 {
			t.Errorf("child: %+v", two)
		}
		if one.Inherited.Objects != 0 || one.Pinned.Objects != 1 || one.Live.Objects-one.Alone.Objects != len(cut.Files) || one.Alone.Objects == 0 {
			t.Errorf("parent: %+v", one)
		}
		if plain := sweep(t, s, true); plain.Versions[1].Inherited.Objects != 0 {
			t.Errorf("counted without being asked: %+v", plain.Versions)
		}
	})
}
