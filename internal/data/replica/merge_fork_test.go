package replica_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/replica"
)

// TestMergeStaysOnOneSideOfTheFork: no merged file has transactions of both the parent and the child, even
// when an archive merges all that it can.
func TestMergeStaysOnOneSideOfTheFork(t *testing.T) {
	t.Parallel()
	const cut = 40
	b, m := bucket(t), newModel(11)
	f := &family{newBranches(t, b, 0), b}
	l := open(t, b, "v1", nil)
	appendN(t, l, m, cut)
	l = f.fork(t, l, "v1", "v2", m.txid)
	m = m.fork(m.txid, 12)
	for range 12 { // merged up to the level of the parent's files
		_, err := l.Compact(t.Context(), replica.Policy{Files: 2, SnapshotRatio: 1e9})
		must(t, err)
		appendN(t, l, m, 4)
	}
	_, err := l.Compact(t.Context(), replica.Policy{Files: 2, SnapshotRatio: 1e9, MaxPlan: 2})
	must(t, err)

	all, err := objstore.ListAll(t.Context(), b, branch.DatabasePrefix(ref("v2"), "main"))
	must(t, err)
	parents, widest := 0, -1
	for _, info := range all {
		file, ok := branch.ParseKey(info.Key)
		switch {
		case !ok || file.Level == branch.SnapshotLevel:
		case file.Min <= cut && file.Max > cut:
			t.Errorf("%s crosses the fork at %d", info.Key, cut)
		case file.Max <= cut:
			parents = file.Level
		default:
			widest = max(widest, file.Level)
		}
	}
	if parents == 0 || widest < parents {
		t.Errorf("no two files of one level on both sides of the fork: levels %d and %d", parents, widest)
	}
	same(t, f.open(t, "v2"), m, m.txid)
}
