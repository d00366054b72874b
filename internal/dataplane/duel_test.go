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

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/s3/s3fault"
	"github.com/svcctl/svcctl/internal/s3/s3test"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/torturetest"
)

// TestTortureSplitBrain lets two hosts fight for a version: the owner is
// suspended in the middle of what it does, the other takes over, and the first
// goes on where it was. It has to stop before it answers anything, and no write
// that either of them acknowledged may be lost.
func TestTortureSplitBrain(t *testing.T) {
	t.Parallel()
	rounds := 4
	if torturetest.Long() {
		rounds = 50
	}
	for name, sync := range map[string]bool{"sync": true, "async": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDuel(t, sync)
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

// duelLease is after how long a silent host is taken for dead.
const duelLease = 500 * time.Millisecond

type duel struct {
	store *torturetest.Store
	rand  *rand.Rand
	dir   string
	sync  bool
	lives int

	owner *life
	host  string       // of the owner
	known map[slot]int // acknowledged, and durable
	gone  []words      // of owners in async mode, whose last writes may be lost

	rounds, takeovers, acks, reads int
	noticed                        []time.Duration
}

func newDuel(t *testing.T, sync bool) *duel {
	t.Helper()
	d := &duel{store: torturetest.Start(t, s3test.Command()), rand: torturetest.Rand(t), dir: t.TempDir(), sync: sync, known: map[slot]int{}, host: "b"}
	d.store.Way.Set(s3fault.Faults{Latency: 2 * time.Millisecond})
	d.next()
	d.owner = d.start(t)
	if !d.owner.await(t, "READY", time.Minute) {
		t.Fatal("the first owner ended")
	}
	return d
}

// next is the turn of the other host.
func (d *duel) next() { d.host = map[string]string{"a": "b", "b": "a"}[d.host] }

// start starts a process of the host whose turn it is. In half of the rounds it
// writes for a moment only.
func (d *duel) start(t *testing.T) *life {
	t.Helper()
	d.lives++
	p := &prey{
		Prefix: "duel/", Dir: filepath.Join(d.dir, d.host), Host: d.host, Life: d.lives, Seed: d.rand.Uint64(),
		Sync: d.sync, Window: shortWindow, Lease: duelLease, Writers: 1, Readers: 1, Stores: 2, Churn: d.rand.IntN(2) == 0,
	}
	if d.rand.IntN(2) == 0 {
		p.Most = 30
	}
	return p.start(t, d.store.Through)
}

// round suspends the owner, and lets the other host want the data.
func (d *duel) round(t *testing.T) {
	d.rounds++
	old := d.owner
	if !old.await(t, "SAW", time.Minute) {
		t.Fatal("the owner ended by itself")
	}
	time.Sleep(time.Duration(d.rand.IntN(200)) * time.Millisecond)
	old.signal(syscall.SIGSTOP)
	d.next()
	taker := d.start(t)
	var took int64                           // when the taker had acknowledged something
	if d.rounds > 1 && d.rand.IntN(3) == 0 { // in the first somebody takes over
		time.Sleep(time.Duration(d.rand.IntN(1500)) * time.Millisecond) // perhaps it has not yet taken over
	} else {
		if !taker.await(t, "ACK", time.Minute) {
			t.Fatalf("the taker ended: %v, %q, %s", taker.cmd.ProcessState, taker.said, taker.errs.String())
		}
		took = time.Now().UnixNano()
		time.Sleep(time.Duration(d.rand.IntN(100)) * time.Millisecond)
	}
	began, limit := time.Now(), 4*duelLease
	if took != 0 {
		limit = time.Minute // it ends; what it serves until then is looked at
	}
	old.signal(syscall.SIGCONT)
	select {
	case <-old.ended:
		d.noticed = append(d.noticed, time.Since(began))
		d.takeovers++
		d.over(t, old, took)
		d.owner = taker
	case <-time.After(limit):
		if took != 0 {
			t.Errorf("the old owner goes on:\n%s", old.errs.String())
		}
		taker.kill() // the lease had not run out, most likely
		d.note(taker.listen(t))
		if d.recorded(t) == d.host { // it had, and the old owner has not looked since
			select {
			case <-old.ended:
			case <-time.After(time.Minute):
				t.Fatalf("the old owner goes on:\n%s", old.errs.String())
			}
			d.over(t, old, took)
			d.owner = d.start(t)
		} else {
			d.next()
		}
	}
	if !d.owner.await(t, "SAW", time.Minute) {
		t.Fatalf("nobody serves: %v, %q, %s", d.owner.cmd.ProcessState, d.owner.said, d.owner.errs.String())
	}
	d.look(t)
}

// recorded is the host that the bucket has as the owner.
func (d *duel) recorded(t *testing.T) string {
	t.Helper()
	d.store.Way.Wait() // what a dead process asked for may be under way
	branches, err := branch.New(branch.Config{Data: d.store.Open("duel/"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := branches.Record(t.Context(), svc.Ref{Project: "p", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	return r.Owner
}

// over looks at what an owner said until it was fenced.
func (d *duel) over(t *testing.T, old *life, took int64) {
	t.Helper()
	said := old.listen(t)
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

// note keeps what must never be lost of an owner that is gone: in sync mode all
// that was said. In async mode it may lose its last writes, as far as look allows.
func (d *duel) note(said words) {
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

// look compares the bucket with what is known.
func (d *duel) look(t *testing.T) {
	t.Helper()
	left := map[slot]int{}
	for i := range 2 {
		maps.Copy(left, counts(t, d.store, "duel/", i))
	}
	for s, n := range d.known {
		if left[s] < n {
			t.Errorf("write %d of writer %d in store %d is known, the bucket has %d", n, s.writer, s.store, left[s])
		}
	}
	for _, said := range d.gone {
		checkSpan(t, said.acks, left)
	}
	d.gone = nil
	maps.Copy(d.known, left) // what the bucket has stays there
}

// end kills the last owner.
func (d *duel) end(t *testing.T) {
	t.Helper()
	d.owner.kill()
	d.note(d.owner.listen(t))
	d.look(t)
	if d.takeovers == 0 {
		t.Error("nobody ever took over")
	}
}
