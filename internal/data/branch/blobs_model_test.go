package branch_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
)

// blobModel does at random what owners, forks and sweeps do, and knows which blobs
// rows name: these must exist.
type blobModel struct {
	*testing.T
	rng      *rand.Rand
	s        *branch.Store
	b        *memstore.Bucket
	versions []*rows
	forking  []pendingFork
	stored   []string // everything that was ever stored
}

// rows are what a version's database says of blobs.
type rows struct {
	*versionLog
	live, dead []string // dead: unreferenced, not recorded yet
	gone       bool     // destroyed
}

// pendingFork has its cut but not its manifest.
type pendingFork struct {
	from  *rows
	cut   branch.Cut
	child rows
	since time.Time
}

func (m *blobModel) pick() *rows {
	var alive []*rows
	for _, v := range m.versions {
		if !v.gone {
			alive = append(alive, v)
		}
	}
	if len(alive) == 0 {
		return m.root()
	}
	return alive[m.rng.IntN(len(alive))]
}

func (m *blobModel) root() *rows {
	v := &rows{versionLog: newVersionLog(m.T, m.s, m.b, fmt.Sprintf("v%d", len(m.versions)))}
	m.versions = append(m.versions, v)
	return v
}

func (m *blobModel) put(v *rows) {
	since := v.head + 1
	if behind := uint64(m.rng.IntN(3)); since > behind {
		since -= behind // the position was read a while before the commit
	}
	key := branch.NewBlob(v.v, since).Key()
	v.object(key)
	m.stored = append(m.stored, key)
	if m.rng.IntN(10) > 0 { // else it crashed in between
		v.commit()
		v.live = append(v.live, key)
	}
}

func (m *blobModel) drop(v *rows) {
	if len(v.live) == 0 {
		return
	}
	i := m.rng.IntN(len(v.live))
	v.dead = append(v.dead, v.live[i])
	v.live = slices.Delete(slices.Clone(v.live), i, i+1)
	v.commit()
}

// record records what was dropped; now and then it crashes before it has noted so.
func (m *blobModel) record(v *rows) {
	if len(v.dead) == 0 {
		return
	}
	m.must(m.s.UnreferenceBlobs(m.Context(), v.v, branch.Unreferenced{At: v.head, Blobs: v.dead}))
	if m.rng.IntN(5) > 0 {
		v.dead = nil
		v.commit()
	}
}

// audit drops the blobs that v counts as a holder of and does not name.
func (m *blobModel) audit(v *rows) {
	dropped, err := m.s.UnreferencedBlobs(m.Context(), v.v)
	m.must(err)
	limits := map[string]uint64{v.v.Version: math.MaxUint64}
	for _, o := range v.manifest.Origins() {
		limits[o.Version] = o.TXID
	}
	var unnamed []string
	for version, limit := range limits {
		infos, err := objstore.ListAll(m.Context(), m.b, branch.BlobPrefix(ref(version)))
		m.must(err)
		for _, info := range infos {
			b, ok := branch.ParseBlob(info.Key)
			young := version == v.v.Version && time.Since(b.Made()) < 24*time.Hour
			if ok && b.Since <= limit && !young && !dropped[b] && !slices.Contains(v.live, info.Key) && !slices.Contains(v.dead, info.Key) {
				unnamed = append(unnamed, info.Key)
			}
		}
	}
	m.must(m.s.UnreferenceBlobs(m.Context(), v.v, branch.Unreferenced{At: v.head, Blobs: unnamed}))
}

// cut begins a fork.
func (m *blobModel) cut(v *rows) {
	m.forking = append(m.forking, pendingFork{
		from: v, cut: v.cut(), child: rows{live: slices.Clone(v.live), dead: slices.Clone(v.dead)}, since: time.Now(),
	})
}

// finishForks writes the manifests of forks, some of which were abandoned.
func (m *blobModel) finishForks() {
	for _, f := range m.forking {
		if m.rng.IntN(5) == 0 {
			continue
		}
		f.child.versionLog = f.from.fork(fmt.Sprintf("v%d", len(m.versions)), f.cut)
		m.versions = append(m.versions, &f.child)
	}
	m.forking = nil
}

func (m *blobModel) destroy(v *rows) {
	v.gone = true
	v.destroy()
}

// sweep checks, after a sweep, that every blob exists that rows name.
func (m *blobModel) sweep() {
	var o branch.SweepOptions
	if m.rng.IntN(2) == 0 {
		o.Registry = func(context.Context) (map[string]branch.Registered, error) {
			registered := map[string]branch.Registered{}
			for _, v := range m.versions {
				registered[v.v.Version] = branch.Registered{Wanted: !v.gone, Forked: v.manifest != nil}
			}
			return registered, nil
		}
	}
	_, err := m.s.Sweep(m.Context(), "p", o)
	m.must(err)
	for key := range m.named() {
		if !there(m.T, m.b, key) {
			m.Fatalf("%s is deleted, and rows name it", key)
		}
	}
}

func (m *blobModel) named() map[string]bool {
	named := map[string]bool{}
	add := func(v *rows) {
		for _, key := range v.live {
			named[key] = true
		}
	}
	for _, v := range m.versions {
		if !v.gone {
			add(v)
		}
	}
	for _, f := range m.forking {
		add(&f.child)
	}
	return named
}

func (m *blobModel) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

// step does one thing. A fork takes far less than the grace.
func (m *blobModel) step() {
	if len(m.forking) > 0 && (m.rng.IntN(4) == 0 || time.Since(m.forking[0].since) > 10*time.Minute) {
		m.finishForks()
	}
	v := m.pick()
	switch n := m.rng.IntN(100); {
	case n < 30:
		m.put(v)
	case n < 50:
		m.drop(v)
	case n < 60:
		m.record(v)
	case n < 63:
		m.audit(v)
	case n < 70 && len(m.versions) < 25:
		m.cut(v)
	case n < 73:
		m.destroy(v)
	case n < 85:
		m.sweep()
	case len(m.forking) > 0:
		time.Sleep(time.Duration(m.rng.IntN(5)) * time.Minute)
	default:
		time.Sleep(time.Duration(m.rng.IntN(90)) * time.Minute)
	}
}

// settle lets owners record all they know, and sweeps delete everything unwanted.
func (m *blobModel) settle() {
	m.finishForks()
	time.Sleep(25 * time.Hour)
	for _, v := range m.versions {
		if !v.gone {
			m.record(v)
			v.dead = nil
			m.audit(v)
		}
	}
	for range 3 {
		m.sweep()
		time.Sleep(61 * time.Minute)
	}
	m.sweep()
}

func (m *blobModel) left() map[string]bool {
	left := map[string]bool{}
	for _, key := range m.stored {
		if there(m.T, m.b, key) {
			left[key] = true
		}
	}
	return left
}

// TestBlobModel: no sweep deletes a blob that rows name; once the owners have
// recorded everything, no other blob is left; and after all versions are destroyed
// nothing is left.
func TestBlobModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := new(memstore.Bucket)
				m := &blobModel{T: t, rng: rand.New(rand.NewPCG(seed, 1)), s: open(t, b), b: b}
				for range 400 {
					m.step()
				}
				m.settle()
				if left, named := m.left(), m.named(); !maps.Equal(left, named) {
					t.Errorf("%d blobs are left, and rows name %d", len(left), len(named))
				}
				for _, v := range m.versions {
					if !v.gone {
						m.destroy(v)
					}
				}
				m.settle()
				if infos, err := objstore.ListAll(t.Context(), b, ""); err != nil || len(infos) > 0 {
					t.Errorf("left: %v, %v", infos, err)
				}
			})
		})
	}
}
