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

	"github.com/svcctl/svcctl/internal/data/s3/s3fault"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/test/crashtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestCrash runs processes that write, read and cut the databases of a version, and kills them and the
// object store at random, while the connection has faults of every kind. The next life and, in sync
// mode, the bucket alone must have everything that was acknowledged; each cut is restored from the
// bucket.
func TestCrash(t *testing.T) {
	t.Parallel()
	r := crashtest.Rand(t)
	store := s3test.Start(t, s3test.Command())
	var sum tally
	end := time.Now().Add(crashtest.Duration(4 * time.Second))
	// On a loaded machine most lives end before they have done anything: the short
	// form continues until some cuts were verified.
	for n := 0; (time.Now().Before(end) || sum.cuts < 5 && sum.lives < 200) && !t.Failed(); n++ {
		w := &crashRun{store: store, prefix: fmt.Sprintf("run%d/", n), dir: t.TempDir(), sync: r.IntN(2) == 0, known: map[slot]int{}, sum: &sum}
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
	return fmt.Sprintf("%d lives, %d killed, %d with the machine, %d kills of the store, %d writes acknowledged, %d reads, %d refused, %d cuts of databases verified, %d of them by hash",
		s.lives, s.killed, s.machines, s.stores, s.acks, s.seen, s.refused, s.cuts, s.hashed)
}

// crashRun is one version's data over all its lives.
type crashRun struct {
	store   *s3test.Store
	prefix  string
	dir     string
	sync    bool
	known   map[slot]int // acknowledged writes that do not depend on a machine
	lives   int
	history []string
	sum     *tally
}

// shortWindow is the window of the async lives; writes may be behind by twice that and a second.
const shortWindow = 50 * time.Millisecond

// live runs one process and checks its output.
func (w *crashRun) live(t *testing.T, r *rand.Rand) {
	w.lives++
	w.sum.lives++
	w.setFaults(r)
	p := &hostRole{
		Prefix: w.prefix, Dir: filepath.Join(w.dir, "data"), Node: "h", Life: w.lives, Seed: r.Uint64(), Sync: w.sync, Window: shortWindow,
		Writers: 2, Readers: 1, Stores: 2, Churn: true, Cuts: true,
	}
	l := p.start(t, w.store.Through)
	if l.Await(t, "READY") {
		w.disturb(t, r, l)
	}
	l.Kill()
	said := listen(t, l)
	w.history = append(w.history, fmt.Sprintf("life %d: %d acks, ready %v", w.lives, len(said.acks), said.ready))
	if l.Killed() {
		w.sum.killed++
	}
	w.verify(t, said)
	if r.IntN(3) == 0 {
		w.loseMachine(t, said)
	}
}

// setFaults chooses the faults of the connection.
func (w *crashRun) setFaults(r *rand.Rand) {
	f := s3fault.Faults{Seed: r.Uint64(), Latency: time.Duration(r.IntN(15)) * time.Millisecond}
	switch r.IntN(3) {
	case 0:
		f.Rate = .03
	case 1: // hanging requests must be rare, or the process makes no progress
		f.Rate = .25
		f.Kinds = slices.DeleteFunc(s3fault.All(), func(k s3fault.Kind) bool { return k == s3fault.Hang || k == s3fault.HangAfter })
	}
	w.store.Way.Set(f)
}

// disturb lets a life continue for a while with faults.
func (w *crashRun) disturb(t *testing.T, r *rand.Rand, l *svctest.Process) {
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
			l.Signal(syscall.SIGSTOP)
			pause(300)
			l.Signal(syscall.SIGCONT)
		case 3:
			w.setFaults(r)
			pause(300)
		default:
			pause(700)
		}
	}
}

// verify compares the start of a life with earlier acknowledgments, and restores its cuts.
func (w *crashRun) verify(t *testing.T, said words) {
	w.sum.refused += len(said.refused)
	if said.ready {
		for s, n := range w.known {
			if said.have[s][0] < n {
				t.Errorf("sync %v: write %d of writer %d in database %d is known, life %d has %v", w.sync, n, s.writer, s.store, w.lives, said.have[s])
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

func (w *crashRun) verifyCut(t *testing.T, c taken) {
	for name, cut := range c.Cuts {
		path := filepath.Join(w.dir, "cut.sqlite")
		err := restoreCut(t, w.store, w.prefix, cut, path)
		var got string
		if err == nil {
			got, err = crashtest.Sound(path)
		}
		if err != nil {
			t.Errorf("a cut of %s at %d: %v", name, cut.TXID, err)
			continue
		}
		if want, ok := c.Hashes[name]; ok {
			w.sum.hashed++
			if got != want {
				t.Errorf("a cut of %s at %d gives back %s, the database held %s", name, cut.TXID, got, want)
			}
		}
		w.sum.cuts++
	}
}

// loseMachine deletes the local files. In sync mode that loses nothing; in async mode it loses the
// unshipped writes, which were acknowledged within a short time.
func (w *crashRun) loseMachine(t *testing.T, said words) {
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
				t.Errorf("write %d of writer %d in database %d is known, the bucket has %d", n, s.writer, s.store, left[s])
			}
		}
		return
	}
	checkSpan(t, said.acks, left)
	w.known = left
}

// checkSpan checks the time span of the writes lost with a disk. While the object store is slow the
// oldest lost write may have any age, but no writes were accepted after it exceeded the limit.
func checkSpan(t *testing.T, acks []ack, left map[slot]int) {
	t.Helper()
	first, last := map[int]int64{}, map[int]int64{}
	for _, a := range acks {
		if a.n > left[a.slot] {
			if first[a.store] == 0 || a.acked < first[a.store] {
				first[a.store] = a.acked
			}
			last[a.store] = max(last[a.store], a.began)
		}
	}
	for store, from := range first {
		if span := time.Duration(last[store] - from); span > 2*shortWindow+time.Second {
			t.Errorf("with its owner, writes of %v in database %d are lost", span, store)
		}
	}
}

// restoreAll checks in the end that all known writes can be restored from the bucket.
func (w *crashRun) restoreAll(t *testing.T) {
	if t.Failed() {
		return
	}
	if !w.sync { // a last life ships the rest
		p := &hostRole{Prefix: w.prefix, Dir: filepath.Join(w.dir, "data"), Node: "h", Life: w.lives + 1, Window: shortWindow, Writers: 1, Stores: 2, Cuts: true}
		l := p.start(t, w.store.Through)
		l.Await(t, "CUT") // everything before it is shipped
		l.Kill()
		w.verify(t, listen(t, l))
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
				t.Errorf("sync %v: write %d of writer %d in database %d is known, the bucket has %d", w.sync, n, s.writer, i, left[s])
			}
		}
	}
}

// countsIn is the count of each writer in a restored file.
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
	if _, ok := errors.AsType[*raw.Error](err); ok { // no table: the database was never written to
		err = nil
	}
	if err = errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
	return found
}
