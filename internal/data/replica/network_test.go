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

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/data/s3/s3fault"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
)

var (
	faultTime = flag.Duration("faults.duration", time.Second, "how long the test of a failing network runs")
	faultSeed = flag.Uint64("faults.seed", 0, "seed of the test; 0 for one from the clock")
)

// TestFailingNetwork runs logs that write, merge, fork, change owners and restore in a
// real object store while three requests of ten fail in every way a network can, and the
// object store is sometimes down. Afterwards every acknowledged transaction exists.
func TestFailingNetwork(t *testing.T) {
	t.Parallel()
	target := s3test.Target(t)
	direct, prefix := s3test.Bucket(t, target)
	proxy := s3fault.Start(t, target.Endpoint)
	target.Endpoint, target.AnswerTimeout = proxy.Endpoint(), 200*time.Millisecond
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
	// Few requests list, so most of their faults are of this kind.
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

// network is an object store behind a proxy, and the versions in it.
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

// goesOn reports whether the test still runs: for its time, and on a busy machine until
// there is something to verify.
func (n *network) goesOn() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.sum.Appends == 0 || time.Now().Before(n.end)
}

// roots is the number of roots that write concurrently.
const roots = 12

func (n *network) run(t *testing.T) {
	t.Helper()
	all := make([]*lineage, roots)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			all[i] = n.newLineage(t, uint64(i))
			for n.goesOn() && !t.Failed() {
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
	n.proxy.Wait() // for late requests
	for _, l := range all {
		wg.Go(func() { l.verify(t) })
	}
	wg.Wait()
}

// lineage is a version that is written to, and its ancestors.
type lineage struct {
	*network
	rng     *rand.Rand
	root    string
	names   []string // of the ancestors
	models  []*model // likewise
	version string
	log     *replica.Log
	m       *model
}

func (n *network) newLineage(t *testing.T, id uint64) *lineage {
	t.Helper()
	root := fmt.Sprintf("v%d", id)
	l := &lineage{network: n, rng: rand.New(rand.NewPCG(n.seed, id)), m: newModel(n.seed + id), root: root, version: root}
	l.open(t)
	return l
}

// insist repeats do, with short deadlines at first, until it succeeds. Only failures of
// the object store and of the network are allowed.
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

// open opens the log as a new owner, which finds all acknowledged transactions.
func (l *lineage) open(t *testing.T) {
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

func (l *lineage) openAt(ctx context.Context, t *testing.T, b objstore.Bucket, version string) (*replica.Log, error) {
	t.Helper()
	man, err := newBranches(t, b, time.Hour).Load(ctx, ref(version))
	if err != nil {
		return nil, err
	}
	c := replica.Config{Bucket: b, Prefix: branch.DatabasePrefix(ref(version), "main"), TempDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}
	if man != nil {
		base := man.Databases["main"]
		c.Base = &base
	}
	return replica.Open(ctx, c)
}

// step is one random action of an owner: mostly a write.
func (l *lineage) step(t *testing.T) {
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

func (l *lineage) append(t *testing.T, log *replica.Log) {
	t.Helper()
	data := l.m.tx(t)
	insist(t, "append", func(ctx context.Context) error { return log.Append(ctx, l.m.txid, data) })
	l.note(&l.sum.Appends, 1)
}

// fork continues with a child and leaves the parent unchanged.
func (l *lineage) fork(t *testing.T) {
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

// takeover appends with a second owner, which fences the first.
func (l *lineage) takeover(t *testing.T) {
	t.Helper()
	old := l.log
	if l.open(t); t.Failed() {
		return
	}
	l.append(t, l.log)
	second := l.m.fork(l.m.txid-1, l.rng.Uint64())
	data := second.tx(t)
	for !t.Failed() {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		err := old.Append(ctx, second.txid, data)
		cancel()
		if errors.Is(err, replica.ErrFenced) {
			break
		}
		if err == nil {
			t.Errorf("two owners were acknowledged for %d of %s", second.txid, l.version)
		}
	}
	l.note(&l.sum.Takeovers, 1)
}

// restore restores the file at txid and compares it.
func (l *lineage) restore(t *testing.T, log *replica.Log, m *model, txid replica.TXID) bool {
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

// verify checks, without the proxy, the end of every version and some of its earlier
// transactions, if they can still be restored.
func (l *lineage) verify(t *testing.T) {
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
