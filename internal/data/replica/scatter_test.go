package replica_test

import (
	"bytes"
	"testing"

	"github.com/svcctl/svcctl/internal/data/replica"
)

// TestReadEach: pages in any order are those of the model, and pages that two sources
// share are equal in them.
func TestReadEach(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		b, m := bucket(t), newModel(seed)
		l := open(t, b, "v1", nil)
		appendN(t, l, m, 60)
		was := m.txid - replica.TXID(m.rng.IntN(8))
		then, now := sourceAt(t, l, was), sourceAt(t, l, m.txid)
		for txid, src := range map[replica.TXID]*replica.Source{was: then, m.txid: now} {
			for pgno, page := range scattered(t, src, m) {
				if want := m.history[txid][int(pgno-1)*pageSize:][:pageSize]; !bytes.Equal(page, want) {
					t.Fatalf("page %d at %d differs", pgno, txid)
				}
			}
		}
		shared := 0
		for pgno := uint32(1); pgno <= min(then.Pages(), now.Pages()); pgno++ {
			at := int(pgno-1) * pageSize
			if !now.Same(then, pgno) {
				continue
			}
			shared++
			if !bytes.Equal(m.history[was][at:][:pageSize], m.history[m.txid][at:][:pageSize]) {
				t.Fatalf("page %d changed between %d and %d", pgno, was, m.txid)
			}
		}
		if shared == 0 || was == m.txid && shared != int(now.Pages()) {
			t.Errorf("%d of %d pages are shared", shared, now.Pages())
		}
	}
}

func sourceAt(t *testing.T, l *replica.Log, txid replica.TXID) *replica.Source {
	t.Helper()
	plan, err := l.Plan(txid)
	must(t, err)
	src, err := l.Source(t.Context(), plan, nil)
	must(t, err)
	return src
}

// scattered reads a random half of the pages.
func scattered(t *testing.T, src *replica.Source, m *model) map[uint32][]byte {
	t.Helper()
	var wanted []uint32
	for _, i := range m.rng.Perm(int(src.Pages()))[:(src.Pages()+1)/2] {
		wanted = append(wanted, uint32(i)+1)
	}
	got := map[uint32][]byte{}
	must(t, src.ReadEach(t.Context(), wanted, func(pgno uint32, page []byte) error {
		got[pgno] = page
		return nil
	}))
	if len(got) != len(wanted) {
		t.Fatalf("%d pages, want %d", len(got), len(wanted))
	}
	return got
}
