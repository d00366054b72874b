package dataplane_test

import (
	"log/slog"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/s3/s3fault"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/crashtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestCrashTakeover runs two nodes in turn: the owner is suspended at a random time, the other node takes
// over, and the first one is resumed. The first one must stop before it answers anything, and no
// acknowledged write of either may be lost.
func TestCrashTakeover(t *testing.T) {
	t.Parallel()
	rounds := 4
	if crashtest.Long() {
		rounds = 50
	}
	for name, sync := range map[string]bool{"sync": true, "async": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTakeover(t, sync)
			for range rounds {
				if d.round(t); t.Failed() {
					t.Fatalf("in round %d", d.rounds)
				}
			}
			d.end(t)
			slices.Sort(d.noticed)
			t.Logf("%d rounds, %d took over, %d writes acknowledged, 0 lost, %d reads; the old owner noticed within %v, half of the time %v",
				d.rounds, d.takeovers, d.acks, d.reads, d.noticed[len(d.noticed)-1], d.noticed[len(d.noticed)/2])
		})
	}
}

// takeoverLease is the lease after which the other node takes over.
const takeoverLease = 500 * time.Millisecond

type takeover struct {
	store *s3test.Store
	rand  *rand.Rand
	dir   string
	sync  bool
	lives int

	owner *svctest.Process
	node  string       // of the owner
	known map[slot]int // acknowledged and durable
	gone  []words      // of owners in async mode, whose last writes may be lost

	rounds, takeovers, acks, reads int
	noticed                        []time.Duration
}

func newTakeover(t *testing.T, sync bool) *takeover {
	t.Helper()
	d := &takeover{store: s3test.Start(t, s3test.Command()), rand: crashtest.Rand(t), dir: t.TempDir(), sync: sync, known: map[slot]int{}, node: "b"}
	d.store.Way.Set(s3fault.Faults{Latency: 2 * time.Millisecond})
	d.next()
	d.owner = d.start(t)
	if !d.owner.Await(t, "READY") {
		t.Fatal("the first owner ended")
	}
	return d
}

// next switches to the other node.
func (d *takeover) next() { d.node = map[string]string{"a": "b", "b": "a"}[d.node] }

// start starts a process of the current node. In half of the rounds it writes only briefly.
func (d *takeover) start(t *testing.T) *svctest.Process {
	t.Helper()
	d.lives++
	p := &hostRole{
		Prefix: "takeover/", Dir: filepath.Join(d.dir, d.node), Node: d.node, Life: d.lives, Seed: d.rand.Uint64(),
		Sync: d.sync, Window: shortWindow, Lease: takeoverLease, Writers: 1, Readers: 1, Stores: 2, Churn: d.rand.IntN(2) == 0,
	}
	if d.rand.IntN(2) == 0 {
		p.Most = 30
	}
	return p.start(t, d.store.Through)
}

// round suspends the owner, and starts a process of the other node.
func (d *takeover) round(t *testing.T) {
	d.rounds++
	old := d.owner
	if !old.AwaitNext(t, "SAW") {
		t.Fatal("the owner ended by itself")
	}
	time.Sleep(time.Duration(d.rand.IntN(200)) * time.Millisecond)
	old.Signal(syscall.SIGSTOP)
	d.next()
	taker := d.start(t)
	var took int64                           // when the new owner had acknowledged a write
	if d.rounds > 1 && d.rand.IntN(3) == 0 { // the first round always has a takeover
		time.Sleep(time.Duration(d.rand.IntN(1500)) * time.Millisecond) // the takeover may not have happened yet
	} else {
		if !taker.Await(t, "ACK") {
			t.Fatalf("the new owner ended: %v, %q, %s", taker.State(), taker.Lines(), taker.Stderr())
		}
		took = time.Now().UnixNano()
		time.Sleep(time.Duration(d.rand.IntN(100)) * time.Millisecond)
	}
	began, limit := time.Now(), 4*takeoverLease
	if took != 0 {
		limit = time.Minute // it must end; over checks what it serves until then
	}
	old.Signal(syscall.SIGCONT)
	select {
	case <-old.Ended():
		d.noticed = append(d.noticed, time.Since(began))
		d.takeovers++
		d.over(t, old, took)
		d.owner = taker
	case <-time.After(limit):
		if took != 0 {
			t.Errorf("the old owner continues:\n%s", old.Stderr())
		}
		taker.Kill() // the lease has probably not expired
		d.note(listen(t, taker))
		if d.recorded(t) == d.node { // it has, and the old owner has not checked since
			select {
			case <-old.Ended():
			case <-time.After(time.Minute):
				t.Fatalf("the old owner continues:\n%s", old.Stderr())
			}
			d.over(t, old, took)
			d.owner = d.start(t)
		} else {
			d.next()
		}
	}
	if !d.owner.AwaitNext(t, "SAW") {
		t.Fatalf("no process serves: %v, %q, %s", d.owner.State(), d.owner.Lines(), d.owner.Stderr())
	}
	d.look(t)
}

// recorded is the owner in the bucket.
func (d *takeover) recorded(t *testing.T) string {
	t.Helper()
	d.store.Way.Wait() // requests of a killed process may be in progress
	branches, err := branch.New(branch.Config{Data: d.store.Open("takeover/"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := branches.Record(t.Context(), svc.Ref{Project: "p", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	return r.Owner
}

// over checks the output of an owner until it was fenced.
func (d *takeover) over(t *testing.T, old *svctest.Process, took int64) {
	t.Helper()
	said := listen(t, old)
	if said.lost != "data_fenced" {
		t.Errorf("the old owner ended by %q", said.lost)
	}
	for _, a := range slices.Concat(said.acks, said.seen) {
		if took != 0 && a.began > took {
			t.Errorf("the old owner serves %+v, %v after another had taken over", a, time.Duration(a.began-took))
		}
	}
	d.note(said)
}

// note records what must not be lost of a former owner: in sync mode everything. In async mode it may
// lose its last writes, as far as look allows.
func (d *takeover) note(said words) {
	d.acks += len(said.acks)
	d.reads += len(said.seen)
	if !d.sync {
		d.gone = append(d.gone, said)
		return
	}
	for _, a := range slices.Concat(said.acks, said.seen) {
		d.known[a.slot] = max(d.known[a.slot], a.n)
	}
}

// look compares the bucket with the known writes.
func (d *takeover) look(t *testing.T) {
	t.Helper()
	left := map[slot]int{}
	for i := range 2 {
		maps.Copy(left, counts(t, d.store, "takeover/", i))
	}
	for s, n := range d.known {
		if left[s] < n {
			t.Errorf("write %d of writer %d in database %d is known, the bucket has %d", n, s.writer, s.store, left[s])
		}
	}
	for _, said := range d.gone {
		checkSpan(t, said.acks, left)
	}
	d.gone = nil
	maps.Copy(d.known, left) // the bucket keeps these
}

// end kills the last owner.
func (d *takeover) end(t *testing.T) {
	t.Helper()
	d.owner.Kill()
	d.note(listen(t, d.owner))
	d.look(t)
	if d.takeovers == 0 {
		t.Error("no takeover happened")
	}
}
