package replica_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/replica"
)

func appendN(t testing.TB, l *replica.Log, m *model, n int) {
	t.Helper()
	for range n {
		data := m.tx(t)
		must(t, l.Append(t.Context(), m.txid, data))
	}
}

// TestEveryTransaction: the restored database equals the model at every transaction,
// before and after merging, also with a newly opened log.
func TestEveryTransaction(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			b, m := bucket(t), newModel(seed)
			l := open(t, b, "v1", nil)
			for range 12 {
				appendN(t, l, m, 1+m.rng.IntN(20))
				if m.rng.IntN(2) == 0 {
					_, err := l.Compact(t.Context(), replica.Policy{Files: 2 + m.rng.IntN(6), SnapshotRatio: 0.5 + m.rng.Float64()})
					must(t, err)
				}
			}
			fresh := open(t, b, "v1", nil)
			if fresh.Position() != m.txid || l.Position() != m.txid {
				t.Fatalf("positions %d and %d, want %d", l.Position(), fresh.Position(), m.txid)
			}
			for txid := range m.txid + 1 {
				same(t, fresh, m, txid)
			}
			same(t, l, m, m.txid)
		})
	}
}

// family is a sequence of versions, each forked from the previous one.
type family struct {
	store *branch.Store
	b     objstore.Bucket
}

func (f *family) fork(t testing.TB, l *replica.Log, parent, child string, txid replica.TXID) *replica.Log {
	t.Helper()
	cut, err := l.Cut(txid)
	must(t, err)
	cut.Kind = "d1"
	_, err = f.store.Fork(t.Context(), branch.Fork{
		Parent: ref(parent), Child: ref(child), ID: "to-" + child, At: time.Now(), Cuts: map[string]branch.Cut{"main": cut},
	})
	must(t, err)
	return f.open(t, child)
}

func (f *family) open(t testing.TB, version string) *replica.Log {
	t.Helper()
	man, err := f.store.Load(t.Context(), ref(version))
	must(t, err)
	if man == nil {
		return open(t, f.b, version, nil)
	}
	base := man.Databases["main"]
	return open(t, f.b, version, &base)
}

// TestForks: children see the parent's data up to the cut and nothing after it, over
// several generations that all write and merge; then the ancestors are destroyed and
// swept, and the youngest can still be restored.
func TestForks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			mem := bucket(t)
			f := &family{newBranches(t, mem, 40*time.Millisecond), mem}
			names := []string{"v0"}
			logs, models := []*replica.Log{open(t, mem, "v0", nil)}, []*model{newModel(seed)}
			claim(t, f.store, "v0")
			rng := newModel(seed + 100).rng
			for i := range 24 {
				k := rng.IntN(len(logs))
				appendN(t, logs[k], models[k], 1+rng.IntN(12))
				if rng.IntN(3) == 0 {
					res, err := logs[k].Compact(t.Context(), replica.Policy{Files: 2 + rng.IntN(4), SnapshotRatio: 0.3 + rng.Float64()})
					must(t, err)
					must(t, f.store.MarkDead(t.Context(), ref(names[k]), res.Superseded))
				}
				if i%4 == 3 {
					child := fmt.Sprintf("v%d", len(logs))
					models = append(models, models[k].fork(models[k].txid, seed+uint64(i)))
					logs = append(logs, f.fork(t, logs[k], names[k], child, models[k].txid))
					claim(t, f.store, child)
					names = append(names, child)
				}
			}
			for k, m := range models {
				fresh := f.open(t, names[k])
				for _, txid := range []replica.TXID{m.txid, 0} {
					same(t, fresh, m, txid)
				}
				if base := logs[k].Position(); base != m.txid {
					t.Fatalf("%s is at %d, want %d", names[k], base, m.txid)
				}
			}
			for k := range len(names) - 2 {
				must(t, f.store.Destroy(t.Context(), ref(names[k])))
			}
			gone := sweepAll(t, f.store)
			for k := len(names) - 2; k < len(names); k++ {
				same(t, f.open(t, names[k]), models[k], models[k].txid)
			}
			if gone == 0 {
				t.Error("nothing was swept")
			}
		})
	}
}

// TestManyGenerations: plans stay short after any number of generations.
func TestManyGenerations(t *testing.T) {
	t.Parallel()
	mem, m := bucket(t), newModel(7)
	f := &family{newBranches(t, mem, time.Second), mem}
	l := open(t, mem, "v0", nil)
	appendN(t, l, m, 40)
	for i := range 60 {
		child := fmt.Sprintf("v%d", i+1)
		m = m.fork(m.txid, uint64(i))
		l = f.fork(t, l, fmt.Sprintf("v%d", i), child, m.txid)
		appendN(t, l, m, 2)
		_, err := l.Compact(t.Context(), replica.Policy{Files: 8, SnapshotRatio: 1e9})
		must(t, err)
		plan, err := l.Plan(m.txid)
		must(t, err)
		if len(plan) > 8+8+8 {
			t.Fatalf("generation %d restores from %d files", i, len(plan))
		}
	}
	same(t, f.open(t, "v60"), m, m.txid)
}

func TestArchivePlanIsShort(t *testing.T) {
	t.Parallel()
	b, m := bucket(t), newModel(3)
	l := open(t, b, "v", nil)
	appendN(t, l, m, 300)
	if _, err := l.Compact(t.Context(), replica.Policy{MaxPlan: 32}); err != nil {
		t.Fatal(err)
	}
	plan, err := l.Plan(m.txid)
	if err != nil || len(plan) > 32 {
		t.Fatalf("%d files, %v", len(plan), err)
	}
	same(t, open(t, b, "v", nil), m, m.txid)
}

func TestAppendRejects(t *testing.T) {
	t.Parallel()
	b, m := bucket(t), newModel(1)
	l := open(t, b, "v", nil)
	appendN(t, l, m, 3)
	next := m.tx(t)
	for name, c := range map[string]struct {
		txid replica.TXID
		data []byte
		want error
	}{
		"a gap":            {5, next, replica.ErrOrder},
		"a repetition":     {3, next, replica.ErrOrder},
		"another range":    {4, newModel(2).tx(t), nil},
		"a torn file":      {4, next[:len(next)-1], nil},
		"not an LTX file":  {4, []byte("hello"), nil},
		"a hole in growth": {4, encode(t, 4, append(m.pages, make([]byte, pageSize), make([]byte, pageSize)), map[int]bool{len(m.pages) + 1: true}), nil},
	} {
		err := l.Append(t.Context(), c.txid, c.data)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, l.Append(t.Context(), 4, next))
	f := &family{newBranches(t, b, time.Second), b}
	child := f.fork(t, l, "v", "w", 4)
	if err := child.Append(t.Context(), 4, next); !errors.Is(err, replica.ErrOrder) {
		t.Errorf("an append before the fork: %v", err)
	}
	if _, err := child.Plan(5); !errors.Is(err, replica.ErrNotRestorable) {
		t.Errorf("a plan of the future: %v", err)
	}
}

// TestSupersededPast: a transaction inside a merged file can be restored for Keep, and
// afterwards returns ErrNotRestorable.
func TestSupersededPast(t *testing.T) {
	t.Parallel()
	b, m := bucket(t), newModel(4)
	l := open(t, b, "v", nil)
	appendN(t, l, m, 40)
	res, err := l.Compact(t.Context(), replica.Policy{})
	must(t, err)
	if len(res.Superseded) < 30 || len(res.Written) == 0 {
		t.Fatalf("%+v", res)
	}
	same(t, l, m, 17)
	must(t, b.Delete(t.Context(), res.Superseded...))
	fresh := open(t, b, "v", nil)
	if _, err := fresh.Plan(17); !errors.Is(err, replica.ErrNotRestorable) {
		t.Errorf("plan of a deleted past: %v", err)
	}
	same(t, fresh, m, m.txid)
	again, err := l.Compact(t.Context(), replica.Policy{})
	if err != nil || len(again.Superseded)+len(again.Written) > 0 {
		t.Errorf("nothing was due: %+v, %v", again, err)
	}
}

// TestMergeFindsAnObject: an existing merged file that another version of the program
// compressed differently is adopted; a damaged one is reported.
func TestMergeFindsAnObject(t *testing.T) {
	t.Parallel()
	merged := branch.File{Prefix: "p/v/db/main", Level: 1, Min: 1, Max: 4}
	for _, sound := range []bool{true, false} {
		b, m := bucket(t), newModel(6)
		l := open(t, b, "v", nil)
		appendN(t, l, m, 4)
		var out bytes.Buffer
		enc, err := ltx.NewEncoder(&out)
		must(t, err)
		must(t, enc.EncodeHeader(ltx.Header{
			Version: ltx.Version, Flags: ltx.HeaderFlagNoChecksum, PageSize: pageSize, Commit: uint32(len(m.pages)),
			MinTXID: 1, MaxTXID: 4, Timestamp: 99,
		}))
		for i, page := range m.pages {
			must(t, enc.EncodePage(ltx.PageHeader{Pgno: uint32(i) + 1}, page))
		}
		must(t, enc.Close())
		data := out.Bytes()
		if !sound {
			data = data[:len(data)-3]
		}
		put(t, b, merged.Key(), data)
		res, err := l.Compact(t.Context(), replica.Policy{Files: 4})
		if sound {
			if err != nil || len(res.Written) != 1 {
				t.Errorf("%+v, %v", res, err)
			}
			same(t, l, m, 4)
			continue
		}
		var c *replica.CorruptError
		if !errors.As(err, &c) || c.Key != merged.Key() || len(res.Superseded) > 0 {
			t.Errorf("%+v, %v", res, err)
		}
	}
}
