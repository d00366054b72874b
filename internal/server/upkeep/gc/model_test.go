package gc_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/server/upkeep/gc"
	"github.com/svcctl/svcctl/internal/server/versions/assetstore"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	pageSize  = 512
	pages     = 4
	forkLimit = time.Minute // of the daemon
)

// modelTime is the simulated time of TestModel; more time finds more:
// go test -run Model ./internal/server/upkeep/gc -gc.model 96h -timeout 0.
var modelTime = flag.Duration("gc.model", 10*time.Hour, "simulated time of TestModel")

// TestModel simulates a project: owners write, compact, crash and archive, versions
// are forked, destroyed and fail, and two services sweep and audit concurrently, on an
// object store that is slow and sometimes fails. No needed object is ever deleted, no
// audit finds a problem, at the end every live version restores, and after all are
// destroyed the bucket is empty.
func TestModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newModel(t, seed).live(*modelTime) })
		})
	}
}

// model is the simulated world and its invariants.
type model struct {
	*world
	t     *testing.T
	dir   string
	store *guarded
	work  sync.WaitGroup

	mu       sync.Mutex
	rng      *rand.Rand
	versions []*version
	forks    int
}

// version is a version with a log, and the database that the log must restore.
type version struct {
	id       string
	manifest *branch.Manifest // nil for a root

	lock      slowLock // held while database and log change together
	log       *replica.Log
	db        [pages][]byte
	images    float64 // when it makes full images: some versions soon, others keep needing inherited files
	destroyed bool    // destroyed: its owner stops later
}

// slowLock is a lock that may be held while time passes in synctest, whose clock stops
// while a goroutine waits for a mutex.
type slowLock chan struct{}

func (l slowLock) Lock()   { l <- struct{}{} }
func (l slowLock) Unlock() { <-l }

func (m *model) newVersion(kind string) *version {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forks++
	return &version{id: fmt.Sprint(kind, m.forks), lock: make(slowLock, 1), images: []float64{1, 100}[m.rng.IntN(2)]}
}

func newModel(t *testing.T, seed uint64) *model {
	t.Helper()
	faults := objstoretest.Faults{}
	if seed%2 == 1 {
		faults = objstoretest.Faults{Before: .02, After: .02, Torn: .02}
	}
	faulty := objstoretest.NewFaulty(new(memstore.Bucket), faults, seed)
	m := &model{t: t, dir: t.TempDir(), rng: rand.New(rand.NewPCG(seed, 7))}
	slow := func(_ context.Context, op objstoretest.Op, _ string, do func() error) error {
		if op != objstoretest.Stat { // audits call it concurrently, which would make the random numbers unreproducible
			m.pause()
		}
		return do()
	}
	m.store = &guarded{&objstoretest.Hooked{Bucket: faulty, Around: slow}, m, faulty}
	m.world = newWorldOn(t, m.store)
	return m
}

// guarded is a slow bucket that checks deletions.
type guarded struct {
	*objstoretest.Hooked
	m      *model
	faulty *objstoretest.Faulty
}

func (g *guarded) Delete(ctx context.Context, keys ...string) error {
	g.m.pause()
	g.m.allowed(keys)
	return g.faulty.Delete(ctx, keys...)
}

// pause lets other goroutines run.
func (m *model) pause() { time.Sleep(time.Duration(m.n(40)) * time.Millisecond) }

// allowed fails the test if a wanted version needs a key to restore its newest
// transaction or any at which a fork can be cut now.
func (m *model) allowed(keys []string) {
	m.mu.Lock()
	all := slices.Clone(m.versions)
	m.mu.Unlock()
	for _, v := range all {
		if !m.wanted(v) {
			continue
		}
		for _, f := range m.needs(v) {
			if slices.Contains(keys, f.Key()) {
				m.t.Errorf("%s is deleted, and %s needs it", f.Key(), v.id)
			}
		}
	}
}

func (m *model) wanted(v *version) bool {
	s := m.registry.status("shop", v.id)
	return s != "" && s != svc.StatusFailed && s != svc.StatusDestroyed
}

func (m *model) needs(v *version) (need []branch.File) {
	v.lock.Lock()
	log := v.log
	v.lock.Unlock()
	plan, err := log.Plan(log.Position())
	if err != nil {
		m.t.Errorf("%s: %v", v.id, err)
	}
	if v.manifest != nil {
		need = v.manifest.Databases["main"].Files
	}
	return append(plan, need...)
}

func (m *model) n(below int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rng.IntN(below)
}

// about returns a random time around d.
func (m *model) about(d time.Duration) time.Duration { return d/4 + time.Duration(m.n(int(3*d/2))) }

func (m *model) live(d time.Duration) {
	ctx, cancel := context.WithTimeout(m.t.Context(), d)
	defer cancel()
	root := m.newVersion("root")
	m.registry.set("shop", root.id, svc.StatusReady, "")
	m.start(ctx, root)
	other, err := gc.New(gc.Deps{
		Branches: m.branches, Records: m.branches, Data: m.store, Assets: assetstore.New(assetstore.Config{Bucket: &memstore.Bucket{}}), Registry: m.registry, Observer: m.counted,
		Logger: slog.New(slog.DiscardHandler), Every: 7 * time.Minute,
	})
	must(m.t, err)
	m.work.Go(func() { janitors(ctx, m.gc, gc.DefaultEvery) })
	m.work.Go(func() { janitors(ctx, other, 7*time.Minute) })
	m.often(ctx, 12*time.Minute, m.fork)
	m.often(ctx, 13*time.Minute, m.forkUnknown)
	m.often(ctx, 22*time.Minute, m.end)
	m.often(ctx, 20*time.Minute, func(ctx context.Context) {
		if a, err := m.gc.Audit(ctx, ""); err == nil {
			m.checkAudit(a)
		}
	})
	m.work.Wait()
	m.verify()
}

// checkAudit fails the test if an audit finds a problem. Overdue objects are expected
// when consecutive sweeps failed.
func (m *model) checkAudit(a svc.GCAudit) {
	m.t.Helper()
	for _, p := range a.Problems {
		if p.Code != "overdue" || !m.sweepsFailed(a.StartedAt) {
			m.t.Errorf("at %s the audit finds %+v", a.StartedAt, p)
		}
	}
}

// sweepsFailed reports whether there was an interval between completed sweeps that is
// longer than usual, in the time that an audit at the given time covers.
func (m *model) sweepsFailed(at time.Time) bool {
	m.counted.mu.Lock()
	sweeps := slices.Clone(m.counted.sweeps)
	m.counted.mu.Unlock()
	slices.SortFunc(sweeps, time.Time.Compare)
	apart := gc.DefaultEvery*11/10 + 15*time.Second // two of them are less than the limit of the audit
	last := at.Add(-m.branches.Grace() - 3*apart)
	for _, done := range append(sweeps, at) {
		if done.Before(last) || done.After(at) {
			continue
		}
		if done.Sub(last) > apart {
			return true
		}
		last = done
	}
	return false
}

// often repeats do until ctx ends.
func (m *model) often(ctx context.Context, every time.Duration, do func(context.Context)) {
	m.work.Go(func() {
		for sleep(ctx, m.about(every)) {
			do(ctx)
		}
	})
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// start opens a version and starts its owner.
func (m *model) start(ctx context.Context, v *version) {
	_, err := m.branches.Acquire(ctx, ref(v.id), svc.Owner{Node: "h", Session: "s"}, "")
	if err == nil {
		v.log, err = m.openLog(ctx, v)
	}
	if err != nil { // ctx has ended, or the object store failed
		m.registry.set("shop", v.id, svc.StatusFailed, "")
		return
	}
	m.mu.Lock()
	m.versions = append(m.versions, v)
	m.mu.Unlock()
	m.work.Go(func() { m.own(ctx, v) })
}

func (m *model) openLog(ctx context.Context, v *version) (*replica.Log, error) {
	c := replica.Config{
		Bucket: m.store, Prefix: branch.DatabasePrefix(ref(v.id), "main"), TempDir: m.dir,
		Keep: m.branches.Keep(), Logger: slog.New(slog.DiscardHandler),
	}
	if v.manifest != nil {
		base := v.manifest.Databases["main"]
		c.Base = &base
	}
	return replica.Open(ctx, c)
}

// own is the owner of a version, which stops late after the version is destroyed.
func (m *model) own(ctx context.Context, v *version) {
	for sleep(ctx, m.about(4*time.Minute)) {
		v.lock.Lock()
		destroyed := v.destroyed
		if !destroyed || m.n(3) > 0 {
			for range 1 + m.n(3) {
				m.write(ctx, v)
			}
		}
		v.lock.Unlock()
		switch m.n(12) {
		case 0, 1, 2:
			m.compact(ctx, v)
		case 3:
			m.reopen(ctx, v)
		}
		if destroyed && m.n(2) == 0 {
			return
		}
	}
}

// write appends one transaction. The caller holds the lock of v.
func (m *model) write(ctx context.Context, v *version) {
	txid := v.log.Position() + 1
	next := v.db
	dirty := map[int]bool{m.n(pages): true}
	for i := range next {
		if next[i] == nil {
			dirty[i] = true
		}
	}
	for i := range dirty {
		next[i] = bytes.Repeat([]byte{byte(m.n(256))}, pageSize)
		copy(next[i], fmt.Sprintf("%s %d", v.id, txid))
	}
	data := encode(m.t, txid, next, dirty)
	for {
		err := v.log.Append(ctx, txid, data)
		if err == nil {
			v.db = next
		}
		if !errors.Is(err, objstoretest.ErrInjected) {
			return
		}
	}
}

func (m *model) compact(ctx context.Context, v *version) {
	v.lock.Lock()
	log := v.log
	v.lock.Unlock()
	res, _ := log.Compact(ctx, replica.Policy{Files: 4, SnapshotRatio: v.images})
	if m.n(10) == 0 {
		return // a crash: the next log reports the keys again
	}
	if err := m.branches.MarkDead(ctx, ref(v.id), res.Superseded); err != nil && ctx.Err() == nil {
		m.t.Errorf("MarkDead: %v", err)
	}
}

// reopen opens the log again, like a new process or a wake.
func (m *model) reopen(ctx context.Context, v *version) {
	v.lock.Lock()
	defer v.lock.Unlock()
	log, err := m.openLog(ctx, v)
	if err != nil {
		if ctx.Err() == nil && m.wanted(v) {
			m.t.Errorf("open %s again: %v", v.id, err)
		}
		return
	}
	v.log = log
}

func (m *model) wantedCount() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, v := range m.versions {
		if m.wanted(v) {
			n++
		}
	}
	return n
}

// pick returns a wanted version.
func (m *model) pick() *version {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range 20 {
		if v := m.versions[m.rng.IntN(len(m.versions))]; m.wanted(v) {
			return v
		}
	}
	return nil
}

// fork forks like a deploy: the registry has the child first, and from the cut to the
// manifest it takes up to the limit. The parent may be destroyed during the fork.
func (m *model) fork(ctx context.Context) {
	parent := m.pick()
	if m.wantedCount() > 12 {
		m.end(ctx)
	}
	if parent == nil {
		v := m.newVersion("root")
		m.registry.set("shop", v.id, svc.StatusReady, "")
		m.start(ctx, v)
		return
	}
	child := m.newVersion("v")
	m.registry.set("shop", child.id, svc.StatusBranching, "")
	if m.n(3) == 0 { // the parent is destroyed and collected during the fork
		m.work.Go(func() {
			sleep(ctx, time.Duration(m.n(int(forkLimit/2))))
			m.destroy(ctx, parent)
			_, _ = m.gc.Collect(ctx, svc.GCRequest{Project: "shop"})
		})
	}
	if !m.forkAt(ctx, parent, child) {
		m.registry.set("shop", child.id, svc.StatusFailed, "")
		return
	}
	m.registry.set("shop", child.id, svc.StatusBranching, "1")
	sleep(ctx, m.about(time.Minute))
	m.registry.set("shop", child.id, svc.StatusReady, "1")
	m.start(ctx, child)
}

// forkUnknown makes a fork that the registry does not have.
func (m *model) forkUnknown(ctx context.Context) {
	if parent := m.pick(); parent != nil {
		m.forkAt(ctx, parent, m.newVersion("unknown"))
	}
}

func (m *model) forkAt(ctx context.Context, parent, child *version) bool {
	ctx, cancel := context.WithTimeout(ctx, forkLimit)
	defer cancel()
	parent.lock.Lock()
	log, txid := parent.log, parent.log.Position()
	child.db = parent.db
	parent.lock.Unlock()
	if !m.wanted(parent) || txid == 0 {
		return false
	}
	cut, err := log.Cut(txid)
	if err != nil {
		m.t.Errorf("cut %s at %d: %v", parent.id, txid, err)
		return false
	}
	if !sleep(ctx, time.Duration(m.n(int(forkLimit)))) {
		return false
	}
	child.manifest, err = m.branches.Fork(ctx, branch.Fork{
		Parent: ref(parent.id), Child: ref(child.id), ID: child.id, At: time.Now(), Cuts: map[string]branch.Cut{"main": cut},
	})
	return err == nil
}

// end destroys a version, and sometimes most of the others too.
func (m *model) end(ctx context.Context) {
	v := m.pick()
	if v == nil {
		return
	}
	if m.n(15) == 0 {
		for range 5 {
			if w := m.pick(); w != nil && w != v {
				m.destroy(ctx, w)
			}
		}
	}
	m.destroy(ctx, v)
}

func (m *model) destroy(ctx context.Context, v *version) {
	m.registry.set("shop", v.id, svc.StatusDestroyed, "")
	v.lock.Lock()
	v.destroyed = true
	v.lock.Unlock()
	if m.n(4) > 0 {
		_ = m.branches.Destroy(ctx, ref(v.id)) // a failure has the effect of a crash
	}
}

// verify restores every wanted version, then destroys all.
func (m *model) verify() {
	m.store.faulty.Off.Store(true)
	live := 0
	for _, v := range m.versions {
		if m.wanted(v) {
			live++
			m.restores(v)
		}
	}
	m.checkAudit(m.audit())
	m.counted.mu.Lock()
	deleted, sweeps := m.counted.objects, len(m.counted.sweeps)
	m.counted.mu.Unlock()
	m.t.Logf("%d forks, %d live versions, %d objects deleted in %d sweeps, %d left", m.forks, live, deleted, sweeps, len(m.keys()))
	if deleted == 0 || m.forks < 40 {
		m.t.Error("the model did too little")
	}
	for _, v := range m.versions {
		m.world.destroy(v.id)
	}
	for range 4 {
		m.collect()
		time.Sleep(61 * time.Minute)
	}
	m.collect()
	if left := m.keys(); len(left) > 0 {
		m.t.Errorf("%d objects are left of destroyed versions: %v", len(left), left[:min(len(left), 10)])
	}
}

func (m *model) restores(v *version) {
	log, err := m.openLog(m.t.Context(), v)
	if err != nil {
		m.t.Errorf("%s: %v", v.id, err)
		return
	}
	path := filepath.Join(m.t.TempDir(), "db")
	if err := log.Restore(m.t.Context(), log.Position(), path); err != nil {
		m.t.Errorf("%s: %v", v.id, err)
		return
	}
	got, err := os.ReadFile(path)
	must(m.t, err)
	if want := bytes.Join(v.db[:], nil); !bytes.Equal(got, want) && v.log.Position() == log.Position() {
		m.t.Errorf("%s restores to %.20q, not %.20q", v.id, got, want)
	}
}

func encode(t *testing.T, txid replica.TXID, db [pages][]byte, dirty map[int]bool) []byte {
	t.Helper()
	var out bytes.Buffer
	enc, err := ltx.NewEncoder(&out)
	must(t, err)
	must(t, enc.EncodeHeader(ltx.Header{
		Version: ltx.Version, Flags: ltx.HeaderFlagNoChecksum, PageSize: pageSize, Commit: pages, MinTXID: txid, MaxTXID: txid, Timestamp: int64(txid),
	}))
	for i, page := range db {
		if dirty[i] {
			must(t, enc.EncodePage(ltx.PageHeader{Pgno: uint32(i) + 1}, page))
		}
	}
	must(t, enc.Close())
	return out.Bytes()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
