package replica_test

import (
	"bytes"
	"testing"

	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/data/replica"
)

// TestSourceTakesOver: a source that begins with the plan of an earlier one reads the other files alone,
// and has the same pages as one that reads all.
func TestSourceTakesOver(t *testing.T) {
	t.Parallel()
	f := objstoretest.NewFaulty(bucket(t), objstoretest.Faults{}, 1)
	l, m := open(t, f, "v1", nil), newModel(3)
	appendN(t, l, m, 20)
	before := sourceAt(t, l, m.txid)
	appendN(t, l, m, 2)
	all := sourceAt(t, l, m.txid)
	plan, err := l.Plan(m.txid)
	must(t, err)
	f.Gets.Store(0)
	src, err := l.Source(t.Context(), plan, before)
	must(t, err)
	if got, want := f.Gets.Load(), int64(len(plan)-before.Files()+1); got != want { // and one for a header
		t.Errorf("%d requests, want %d", got, want)
	}
	if src.Pages() != all.Pages() {
		t.Fatalf("%d pages, want %d", src.Pages(), all.Pages())
	}
	read := func(s *replica.Source) []byte {
		buf := make([]byte, int(s.Pages())*s.PageSize())
		must(t, s.ReadPages(t.Context(), 1, buf))
		return buf
	}
	if !bytes.Equal(read(src), read(all)) {
		t.Error("pages differ")
	}
}
