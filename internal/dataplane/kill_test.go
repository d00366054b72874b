package dataplane_test

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/s3/s3test"
	"github.com/svcctl/svcctl/internal/torturetest"
)

// A process that is killed loses nothing, and the next one goes on with small
// transactions: the database is not shipped again.
func TestKilled(t *testing.T) {
	t.Parallel()
	store := torturetest.Start(t, s3test.Command())
	bucket := store.Open("killed/")
	dir := t.TempDir()
	v := openOn(t, bucket, dir)
	s, err := v.Store(t.Context(), storeOf(0))
	if err != nil {
		t.Fatal(err)
	}
	exec(t, s, `BEGIN; CREATE TABLE big(v); WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 150) INSERT INTO big SELECT randomblob(3000) FROM n; COMMIT`)
	closed(t, v)
	known := map[slot]int{}
	for n := 1; n <= 3; n++ {
		before := len(transactions(t, bucket))
		p := &prey{Prefix: "killed/", Dir: dir, Host: "h", Life: n, Window: time.Duration(n) * 20 * time.Millisecond, Writers: 2, Stores: 1}
		l := p.start(t, store.Direct)
		for range 200 { // it is another process: nobody tells when it has shipped
			if !l.await(t, "ACK", time.Minute) {
				t.Fatalf("it ended by itself:\n%s", l.errs.String())
			}
			if len(transactions(t, bucket)) > before+n {
				break
			}
		}
		l.kill()
		said := l.listen(t)
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
