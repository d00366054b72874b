package dataplane_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/s3/s3fault"
	"github.com/svcctl/svcctl/internal/s3/s3test"
	"github.com/svcctl/svcctl/internal/sqlite/raw"
	"github.com/svcctl/svcctl/internal/torturetest"
)

// TestTorture lets processes write, read and cut the stores of a version and
// kills them at random, and the object store, while the way to it fails in
// every manner. What a client was told is looked for in the next life and, in
// sync mode, in the bucket alone; each cut is restored from the bucket.
func TestTorture(t *testing.T) {
	t.Parallel()
	r := torturetest.Rand(t)
	store := torturetest.Start(t, s3test.Command())
	var sum tally
	end := time.Now().Add(torturetest.Duration(4 * time.Second))
	// On a loaded machine most lives end before they have done anything: the
	// short form goes on until some cuts were verified.
	for n := 0; (time.Now().Before(end) || sum.cuts < 5 && sum.lives < 200) && !t.Failed(); n++ {
		w := &world{store: store, prefix: fmt.Sprintf("world%d/", n), dir: t.TempDir(), sync: r.IntN(2) == 0, known: map[slot]int{}, sum: &sum}
		for lives := 3 + r.IntN(4); lives > 0 && !t.Failed(); lives-- {
			w.live(t, r)
		}
		store.Way.Set(s3fault.Faults{})
		w.restoreAll(t)
		if err := os.RemoveAll(w.dir); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%s, %d faults", &sum, store.Way.Counts().Injected())
	if sum.cuts == 0 || sum.acks == 0 {
		t.Error("nothing was verified")
	}
}

type tally struct{ lives, killed, machines, stores, acks, seen, refused, cuts, hashed int }

func (s *tally) String() string {
	return fmt.Sprintf("%d lives, %d killed, %d with the machine, %d kills of the store, %d writes acknowledged, %d reads, %d refused, %d cuts of stores verified, %d of them by hash",
		s.lives, s.killed, s.machines, s.stores, s.acks, s.seen, s.refused, s.cuts, s.hashed)
}

// world is one version's data over all its lives.
type world struct {
	store   *torturetest.Store
	prefix  string
	dir     string
	sync    bool
	known   map[slot]int // what clients were told, and is not lost with a machine
	lives   int
	history []string
	sum     *tally
}

// shortWindow is that of the async lives; what may be behind is two of it and a second.
const shortWindow = 50 * time.Millisecond

// live runs one process and checks what it says.
func (w *world) live(t *testing.T, r *rand.Rand) {
	w.lives++
	w.sum.lives++
	w.weather(r)
	p := &prey{
		Prefix: w.prefix, Dir: filepath.Join(w.dir, "data"), Host: "h", Life: w.lives, Seed: r.Uint64(), Sync: w.sync, Window: shortWindow,
		Writers: 2, Readers: 1, Stores: 2, Churn: true, Cuts: true,
	}
	l := p.start(t, w.store.Through)
	if l.await(t, "READY", 2*time.Minute) {
		w.disturb(t, r, l)
	}
	l.kill()
	said := l.listen(t)
	w.history = append(w.history, fmt.Sprintf("life %d: %d acks, ready %v", w.lives, len(said.acks), said.ready))
	if l.killed() {
		w.sum.killed++
	}
	w.verify(t, said)
	if r.IntN(3) == 0 {
		w.loseMachine(t, said)
	}
}

// weather decides how bad the way to the store is.
func (w *world) weather(r *rand.Rand) {
	f := s3fault.Faults{Seed: r.Uint64(), Latency: time.Duration(r.IntN(15)) * time.Millisecond}
	switch r.IntN(3) {
	case 0:
		f.Rate = .03
	case 1: // what hangs is waited for: only where it is rare is there anything to see
		f.Rate = .25
		f.Kinds = slices.DeleteFunc(s3fault.All(), func(k s3fault.Kind) bool { return k == s3fault.Hang || k == s3fault.HangAfter })
	}
	w.store.Way.Set(f)
}

// disturb lets a life go on for a while in which bad things happen.
func (w *world) disturb(t *testing.T, r *rand.Rand, l *life) {
	for range 1 + r.IntN(3) {
		switch pause := func(most int) { time.Sleep(time.Duration(r.IntN(most)) * time.Millisecond) }; r.IntN(6) {
		case 0:
			w.sum.stores++
			if err := w.store.Kill(); err != nil {
				t.Error(err)
			}
		case 1:
			w.store.Way.Down(true)
			pause(800)
			w.store.Way.Down(false)
		case 2:
			l.signal(syscall.SIGSTOP)
			pause(300)
			l.signal(syscall.SIGCONT)
		case 3:
			w.weather(r)
			pause(300)
		default:
			pause(700)
		}
	}
}

// verify compares what a life began with to what was told before, and restores
// its cuts.
func (w *world) verify(t *testing.T, said words) {
	w.sum.refused += len(said.refused)
	if said.ready {
		for s, n := range w.known {
			if said.have[s][0] < n {
				t.Errorf("sync %v: write %d of writer %d in store %d is known, life %d has %v", w.sync, n, s.writer, s.store, w.lives, said.have[s])
				t.Logf("history %q; this life:\n%s", w.history, said.log)
			}
		}
	}
	for s, have := range said.have {
		if have[0] != have[1] {
			t.Errorf("writer %d of store %d is at %d with %d rows", s.writer, s.store, have[0], have[1])
		}
	}
	for _, a := range said.acks {
		w.known[a.slot] = max(w.known[a.slot], a.n)
	}
	for _, a := range said.seen {
		w.known[a.slot] = max(w.known[a.slot], a.n)
	}
	w.sum.acks, w.sum.seen = w.sum.acks+len(said.acks), w.sum.seen+len(said.seen)
	for _, c := range said.cuts {
		w.verifyCut(t, c)
	}
}

func (w *world) verifyCut(t *testing.T, c taken) {
	for name, cut := range c.Cuts {
		path := filepath.Join(w.dir, "cut.sqlite")
		err := restoreCut(t, w.store, w.prefix, cut, path)
		var got string
		if err == nil {
			got, err = torturetest.Sound(path)
		}
		if err != nil {
			t.Errorf("a cut of %s at %d: %v", name, cut.TXID, err)
			continue
		}
		if want, ok := c.Hashes[name]; ok {
			w.sum.hashed++
			if got != want {
				t.Errorf("a cut of %s at %d gives back %s, the store held %s", name, cut.TXID, got, want)
			}
		}
		w.sum.cuts++
	}
}

// loseMachine removes all that is on this machine. In sync mode that loses
// nothing. In async mode it loses what was not shipped, which is what was
// acknowledged in a short time.
func (w *world) loseMachine(t *testing.T, said words) {
	w.sum.machines++
	w.history = append(w.history, "machine lost")
	w.store.Way.Set(s3fault.Faults{})
	if err := os.RemoveAll(filepath.Join(w.dir, "data")); err != nil {
		t.Fatal(err)
	}
	left := map[slot]int{}
	for i := range 2 {
		maps.Copy(left, counts(t, w.store, w.prefix, i))
	}
	if w.sync {
		for s, n := range w.known {
			if left[s] < n {
				t.Errorf("write %d of writer %d in store %d is known, the bucket has %d", n, s.writer, s.store, left[s])
			}
		}
		return
	}
	checkSpan(t, said.acks, left)
	w.known = left
}

// checkSpan looks at what an owner lost that is gone with its disk. While the
// store is slow the oldest lost write may be of any age: what counts is that no
// more were taken when it had waited for its time.
func checkSpan(t *testing.T, acks []ack, left map[slot]int) {
	t.Helper()
	first, last := map[int]int64{}, map[int]int64{}
	for _, a := range acks {
		if a.n > left[a.slot] {
			if first[a.store] == 0 || a.told < first[a.store] {
				first[a.store] = a.told
			}
			last[a.store] = max(last[a.store], a.began)
		}
	}
	for store, from := range first {
		if span := time.Duration(last[store] - from); span > 2*shortWindow+time.Second {
			t.Errorf("with its owner, writes of %v in store %d are lost", span, store)
		}
	}
}

// restoreAll looks at the end whether all that is known can be had from the bucket.
func (w *world) restoreAll(t *testing.T) {
	if t.Failed() {
		return
	}
	if !w.sync { // a last life ships what is left
		p := &prey{Prefix: w.prefix, Dir: filepath.Join(w.dir, "data"), Host: "h", Life: w.lives + 1, Window: shortWindow, Writers: 1, Stores: 2, Cuts: true}
		l := p.start(t, w.store.Through)
		l.await(t, "CUT", 2*time.Minute) // all that came before it is shipped
		l.kill()
		w.verify(t, l.listen(t))
		for s := range w.known {
			if s.writer/100 == p.Life {
				delete(w.known, s)
			}
		}
	}
	for i := range 2 {
		left := counts(t, w.store, w.prefix, i)
		for s, n := range w.known {
			if s.store == i && left[s] < n {
				t.Errorf("sync %v: write %d of writer %d in store %d is known, the bucket has %d", w.sync, n, s.writer, i, left[s])
			}
		}
	}
}

// countsIn is how far each writer is in a restored file.
func countsIn(t *testing.T, store int, path string) map[slot]int {
	t.Helper()
	c, err := raw.Open(path, raw.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[slot]int{}
	err = c.Query(`SELECT w, max(n), count(*) FROM log GROUP BY w`, nil, func(s *raw.Stmt) error {
		if s.Int64(1) != s.Int64(2) {
			t.Errorf("writer %d is at %d with %d rows", s.Int64(0), s.Int64(1), s.Int64(2))
		}
		found[slot{store, int(s.Int64(0))}] = int(s.Int64(1))
		return nil
	})
	if _, ok := errors.AsType[*raw.Error](err); ok { // no table: nothing was ever written
		err = nil
	}
	if err = errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
	return found
}
