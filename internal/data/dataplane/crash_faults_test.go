package dataplane_test

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/s3/s3fault"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/test/crashtest"
)

// TestCrashFaults injects faults of every kind into the connection to the object store, and kills the
// object store, while one process writes. Afterwards the process continues without help, and has lost
// no write that was acknowledged as durable.
func TestCrashFaults(t *testing.T) {
	t.Parallel()
	for name, sync := range map[string]bool{"sync": true, "async": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := crashtest.Rand(t)
			store := s3test.Start(t, s3test.Command())
			p := &hostRole{
				Prefix: "faults/", Dir: t.TempDir(), Node: "h", Life: 1, Seed: r.Uint64(), Sync: sync, Window: shortWindow,
				Writers: 4, Readers: 1, Stores: 2, Churn: true, Cuts: true,
			}
			l := p.start(t, store.Through)
			if !l.Await(t, "READY") {
				t.Fatalf("it ended: %s", l.Stderr())
			}
			faults := &crashRun{store: store, sum: &tally{}}
			for end := time.Now().Add(crashtest.Duration(3 * time.Second)); time.Now().Before(end); {
				faults.setFaults(r)
				faults.disturb(t, r, l)
			}
			store.Way.Set(s3fault.Faults{})
			began := time.Now()
			for range 50 {
				if !l.AwaitNext(t, "ACK") {
					t.Fatalf("it ended: %v, %s", l.State(), l.Stderr())
				}
			}
			resumed := time.Since(began)
			until := time.Now()
			for range 2 { // a cut that begins now ships all writes
				if !l.AwaitNext(t, "CUT") {
					t.Fatalf("it ended: %v, %s", l.State(), l.Stderr())
				}
			}
			l.Kill()
			said := listen(t, l)
			known := map[slot]int{}
			for _, a := range said.acks {
				if sync || a.acked < until.UnixNano() {
					known[a.slot] = max(known[a.slot], a.n)
				}
			}
			for i := range p.Stores {
				left := counts(t, store, "faults/", i)
				for s, n := range known {
					if s.store == i && left[s] < n {
						t.Errorf("write %d of writer %d in database %d was acknowledged, the bucket has %d", n, s.writer, i, left[s])
					}
				}
			}
			w := &crashRun{store: store, prefix: "faults/", dir: t.TempDir(), sum: &tally{}}
			for _, c := range said.cuts {
				w.verifyCut(t, c)
			}
			t.Logf("%d faults, %d kills of the store, %d writes acknowledged, %d refused, %d cuts of databases verified; 50 writes %v after the end",
				store.Way.Counts().Injected(), faults.sum.stores, len(said.acks), len(said.refused), w.sum.cuts, resumed.Round(time.Millisecond))
		})
	}
}
