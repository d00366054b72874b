package dataplane_test

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/s3/s3fault"
	"github.com/svcctl/svcctl/internal/s3/s3test"
	"github.com/svcctl/svcctl/internal/torturetest"
)

// TestTortureFaults lets the way to the store fail in every manner, and the
// store die, for as long as the test goes on, while one process writes. It goes
// on by itself once all is well, and has lost nothing that was acknowledged as
// durable.
func TestTortureFaults(t *testing.T) {
	t.Parallel()
	for name, sync := range map[string]bool{"sync": true, "async": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := torturetest.Rand(t)
			store := torturetest.Start(t, s3test.Command())
			p := &prey{
				Prefix: "faults/", Dir: t.TempDir(), Host: "h", Life: 1, Seed: r.Uint64(), Sync: sync, Window: shortWindow,
				Writers: 4, Readers: 1, Stores: 2, Churn: true, Cuts: true,
			}
			l := p.start(t, store.Through)
			if !l.await(t, "READY", time.Minute) {
				t.Fatalf("it ended: %s", l.errs.String())
			}
			weather := &world{store: store, sum: &tally{}}
			for end := time.Now().Add(torturetest.Duration(3 * time.Second)); time.Now().Before(end); {
				weather.weather(r)
				weather.disturb(t, r, l)
			}
			store.Way.Set(s3fault.Faults{})
			began := time.Now()
			for range 50 {
				if !l.await(t, "ACK", time.Minute) {
					t.Fatalf("it ended: %v, %s", l.cmd.ProcessState, l.errs.String())
				}
			}
			resumed := time.Since(began)
			until := time.Now()
			for range 2 { // a cut that began after that has shipped it
				if !l.await(t, "CUT", time.Minute) {
					t.Fatalf("it ended: %v, %s", l.cmd.ProcessState, l.errs.String())
				}
			}
			l.kill()
			said := l.listen(t)
			known := map[slot]int{}
			for _, a := range said.acks {
				if sync || a.told < until.UnixNano() {
					known[a.slot] = max(known[a.slot], a.n)
				}
			}
			for i := range p.Stores {
				left := counts(t, store, "faults/", i)
				for s, n := range known {
					if s.store == i && left[s] < n {
						t.Errorf("write %d of writer %d in store %d was acknowledged, the bucket has %d", n, s.writer, i, left[s])
					}
				}
			}
			w := &world{store: store, prefix: "faults/", dir: t.TempDir(), sum: &tally{}}
			for _, c := range said.cuts {
				w.verifyCut(t, c)
			}
			t.Logf("%d faults, %d kills of the store, %d writes acknowledged, %d refused, %d cuts of stores verified; 50 writes %v after the end",
				store.Way.Counts().Injected(), weather.sum.stores, len(said.acks), len(said.refused), w.sum.cuts, resumed.Round(time.Millisecond))
		})
	}
}
