package dataplane_test

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
)

// TestKilled: a killed process loses nothing, and the next one continues with small transactions: the
// database is not shipped again.
func TestKilled(t *testing.T) {
	t.Parallel()
	store := s3test.Start(t, s3test.Command())
	bucket := store.Open("killed/")
	dir := t.TempDir()
	v := openOn(t, bucket, dir)
	db, err := v.Database(t.Context(), storeOf(0))
	if err != nil {
		t.Fatal(err)
	}
	exec(t, db, `BEGIN; CREATE TABLE big(v); WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 150) INSERT INTO big SELECT randomblob(3000) FROM n; COMMIT`)
	closed(t, v)
	known := map[slot]int{}
	for n := 1; n <= 3; n++ {
		before := len(transactions(t, bucket))
		p := &hostRole{Prefix: "killed/", Dir: dir, Node: "h", Life: n, Window: time.Duration(n) * 20 * time.Millisecond, Writers: 2, Stores: 1}
		l := p.start(t, store.Direct)
		for range 200 { // another process does not report when it has shipped
			if !l.AwaitNext(t, "ACK") {
				t.Fatalf("it ended by itself:\n%s", l.Stderr())
			}
			if len(transactions(t, bucket)) > before+n {
				break
			}
		}
		l.Kill()
		said := listen(t, l)
		for s, n := range known {
			if said.have[s][0] < n {
				t.Errorf("write %d of writer %d was acknowledged, the next life has %d", n, s.writer, said.have[s][0])
			}
		}
		for _, a := range said.acks {
			known[a.slot] = max(known[a.slot], a.n)
		}
	}
	infos := transactions(t, bucket)
	if len(infos) < 4 {
		t.Errorf("%d transactions", len(infos))
	}
	for _, info := range infos[1:] {
		if info.Size > small {
			t.Errorf("%s has %d bytes", info.Key, info.Size)
		}
	}
}

func transactions(t *testing.T, bucket objstore.Bucket) []objstore.Info {
	t.Helper()
	infos, err := objstore.ListAll(t.Context(), bucket, "p/v1/db/"+storeOf(0)+"/ltx/0000/")
	if err != nil {
		t.Fatal(err)
	}
	return infos
}
