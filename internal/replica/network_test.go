package replica_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/replica"
	"github.com/svcctl/svcctl/internal/s3"
	"github.com/svcctl/svcctl/internal/s3/s3fault"
	"github.com/svcctl/svcctl/internal/s3/s3test"
)

var (
	faultTime = flag.Duration("faults.duration", time.Second, "how long the test of a failing network goes on")
	faultSeed = flag.Uint64("faults.seed", 0, "its seed; 0 takes one of the clock")
)

// TestFailingNetwork lets logs write, merge, fork, change hands and restore in a
// real store while three requests of ten fail in every way a network can, and
// the store is away now and then. Afterwards everything that was acknowledged
// is there.
func TestFailingNetwork(t *testing.T) {
	t.Parallel()
	target := s3test.Target(t)
	direct, prefix := s3test.Bucket(t, target)
	proxy := s3fault.Start(t, target.Endpoint)
	target.Endpoint, target.Patience = proxy.Endpoint(), 200*time.Millisecond
	store, err := s3.New(target)
	must(t, err)
	n := &network{
		proxy: proxy, direct: direct, b: store.Bucket(s3test.BucketName(), prefix),
		end: time.Now().Add(*faultTime), seed: *faultSeed,
	}
	if n.seed == 0 {
		n.seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", n.seed)
	// Few requests list, and few of them again: the fault of those is mostly this one.
	kinds := append(s3fault.All(), slices.Repeat([]s3fault.Kind{s3fault.StaleList}, 10)...)
	proxy.Set(s3fault.Faults{Rate: .3, Seed: n.seed, Kinds: kinds, Slow: 50 * time.Millisecond, Delay: 50 * time.Millisecond, Stale: 5 * time.Second})
	n.run(t)
	c := proxy.Counts()
	t.Logf("%d faults in %d requests: %v; %+v", c.Injected(), c.Total(), c.Faults, n.sum)
	if missing := len(s3fault.All()) - len(c.Faults); missing > 0 && c.Total() > 5000 {
		t.Errorf("%d kinds of faults did not occur", missing)
	}
	if n.sum.Appends == 0 || n.sum.Verified == 0 || c.Injected() == 0 {
		t.Error("nothing was tested")
	}
}

// network is a store behind a proxy, and the lines of versions in it.
type network struct {
	proxy     *s3fault.Proxy
	direct, b objstore.Bucket
	end       time.Time
	seed      uint64

	mu  sync.Mutex
	sum struct{ Appends, Merges, Forks, Takeovers, Opens, Restores, Outages, Verified int }
}

func (n *network) note(what *int, by int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	*what += by
}

// lines is how many roots write at once.
const lines = 12

func (n *network) run(t *testing.T) {
	t.Helper()
	all := make([]*line, lines)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			all[i] = n.newLine(t, uint64(i))
			for time.Now().Before(n.end) && !t.Failed() {
				all[i].step(t)
			}
		})
	}
	outages := time.NewTicker(time.Second)
	defer outages.Stop()
	for now := range outages.C {
		if now.After(n.end) {
			break
		}
		n.proxy.Down(true)
		<-time.After(50 * time.Millisecond)
		n.proxy.Down(false)
		n.note(&n.sum.Outages, 1)
	}
	wg.Wait()
	n.proxy.Set(s3fault.Faults{})
	n.proxy.Wait() // for what is late
	for _, l := range all {
		wg.Go(func() { l.verify(t) })
	}
	wg.Wait()
}

// line is a version that is written to, and its ancestors.
type line struct {
	*network
	rng     *rand.Rand
	root    string
	names   []string // of the ancestors
	models  []*model // likewise
	version string
	log     *replica.Log
	m       *model
}

func (n *network) newLine(t *testing.T, id uint64) *line {
	t.Helper()
	root := fmt.Sprintf("v%d", id)
	l := &line{network: n, rng: rand.New(rand.NewPCG(n.seed, id)), m: newModel(n.seed + id), root: root, version: root}
	l.open(t)
	return l
}

// insist repeats do, with little time for the first attempts, until it succeeds. Only
// failures of the store and of the network are failures it may have.
func insist(t *testing.T, what string, do func(context.Context) error) {
	t.Helper()
	for patience := 150 * time.Millisecond; ; patience = min(2*patience, 4*time.Second) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		err := do(ctx)
		cancel()
		if err == nil {
			return
		}
		var damaged *replica.CorruptError
		if errors.As(err, &damaged) || errors.Is(err, replica.ErrFenced) || errors.Is(err, replica.ErrOrder) ||
			errors.Is(err, replica.ErrNotRestorable) || errors.Is(err, objstore.ErrNotExist) || t.Context().Err() != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
	}
}

// open gives the line a new owner, who finds all that was acknowledged.
func (l *line) open(t *testing.T) {
	t.Helper()
	insist(t, "open "+l.version, func(ctx context.Context) error {
		log, err := l.openAt(ctx, t, l.b, l.version)
		if err == nil {
			l.log = log
		}
		return err
	})
	if !t.Failed() && l.log.Position() != l.m.txid {
		t.Errorf("%s opens at %d, acknowledged up to %d", l.version, l.log.Position(), l.m.txid)
	}
	l.note(&l.sum.Opens, 1)
}

func (l *line) openAt(ctx context.Context, t *testing.T, b objstore.Bucket, version string) (*replica.Log, error) {
	t.Helper()
	man, err := newBranches(t, b, time.Hour).Load(ctx, ref(version))
	if err != nil {
		return nil, err
	}
	c := replica.Config{Bucket: b, Prefix: branch.StorePrefix(ref(version), "main"), TempDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}
	if man != nil {
		base := man.Stores["main"]
		c.Base = &base
	}
	return replica.Open(ctx, c)
}

// step does what an owner does: mostly it writes.
func (l *line) step(t *testing.T) {
	t.Helper()
	switch l.rng.IntN(12) {
	case 0:
		insist(t, "merge", func(ctx context.Context) error {
			_, err := l.log.Compact(ctx, replica.Policy{Files: 2 + l.rng.IntN(6)})
			return err
		})
		l.note(&l.sum.Merges, 1)
	case 1:
		l.fork(t)
	case 2:
		l.takeover(t)
	case 3:
		txid := l.m.txid - min(l.m.txid, replica.TXID(l.rng.IntN(3)))
		if l.restore(t, l.log, l.m, txid) {
			l.note(&l.sum.Restores, 1)
		}
	default:
		l.append(t, l.log)
	}
}

func (l *line) append(t *testing.T, log *replica.Log) {
	t.Helper()
	data := l.m.tx(t)
	insist(t, "append", func(ctx context.Context) error { return log.Append(ctx, l.m.txid, data) })
	l.note(&l.sum.Appends, 1)
}

// fork goes on with a child, and leaves the parent as it is.
func (l *line) fork(t *testing.T) {
	t.Helper()
	cut, err := l.log.Cut(l.m.txid)
	if err != nil {
		t.Errorf("cut: %v", err)
		return
	}
	cut.Kind = "d1"
	parent := l.version
	child := fmt.Sprintf("%s-%d", l.root, len(l.names)+1)
	branches := newBranches(t, l.b, time.Hour)
	insist(t, "fork", func(ctx context.Context) error {
		_, err := branches.Fork(ctx, branch.Fork{
			Parent: ref(parent), Child: ref(child), ID: child, At: time.UnixMilli(1e12), Cuts: map[string]branch.Cut{"main": cut},
		})
		return err
	})
	l.names, l.models = append(l.names, parent), append(l.models, l.m)
	l.version, l.m = child, l.m.fork(l.m.txid, l.rng.Uint64())
	l.open(t)
	l.note(&l.sum.Forks, 1)
}

// takeover lets a second owner win the next slot: the first is fenced.
func (l *line) takeover(t *testing.T) {
	t.Helper()
	old := l.log
	if l.open(t); t.Failed() {
		return
	}
	l.append(t, l.log)
	rival := l.m.fork(l.m.txid-1, l.rng.Uint64())
	data := rival.tx(t)
	for !t.Failed() {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		err := old.Append(ctx, rival.txid, data)
		cancel()
		if errors.Is(err, replica.ErrFenced) {
			break
		}
		if err == nil {
			t.Errorf("two owners were acknowledged for %d of %s", rival.txid, l.version)
		}
	}
	l.note(&l.sum.Takeovers, 1)
}

// restore writes the file as it was at txid, and compares it.
func (l *line) restore(t *testing.T, log *replica.Log, m *model, txid replica.TXID) bool {
	t.Helper()
	if t.Failed() {
		return false
	}
	if _, err := log.Plan(txid); errors.Is(err, replica.ErrNotRestorable) && txid != m.txid {
		return false // inside a merged file
	}
	path := filepath.Join(t.TempDir(), "db")
	if insist(t, fmt.Sprintf("restore at %d", txid), func(ctx context.Context) error { return log.Restore(ctx, txid, path) }); t.Failed() {
		return false
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, m.history[txid]) {
		t.Errorf("restored at %d: %d bytes that differ from the %d of the model", txid, len(got), len(m.history[txid]))
	}
	return true
}

// verify looks past the proxy, at the end of every version and at some of its
// transactions before, if they can still be restored.
func (l *line) verify(t *testing.T) {
	t.Helper()
	for i, name := range append(slices.Clone(l.names), l.version) {
		m := append(slices.Clone(l.models), l.m)[i]
		log, err := l.openAt(t.Context(), t, l.direct, name)
		if err != nil {
			t.Errorf("open %s: %v", name, err)
			return
		}
		if log.Position() != m.txid {
			t.Errorf("%s is at %d, acknowledged up to %d", name, log.Position(), m.txid)
		}
		past := slices.Sorted(maps.Keys(m.history))
		l.rng.Shuffle(len(past), func(i, k int) { past[i], past[k] = past[k], past[i] })
		for _, txid := range append(past[:min(len(past), 8)], m.txid) {
			if l.restore(t, log, m, txid) {
				l.note(&l.sum.Verified, 1)
			}
		}
	}
}
