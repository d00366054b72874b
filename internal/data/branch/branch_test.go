package branch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

func ref(version string) svc.Ref { return svc.Ref{Project: "p", Version: version} }

func open(t *testing.T, b objstore.Bucket) *branch.Store {
	t.Helper()
	s, err := branch.New(branch.Config{Data: b, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// write puts a log file of 10 bytes and names it.
func write(t *testing.T, b objstore.Bucket, version string, level int, lo, hi uint64) branch.File {
	t.Helper()
	f := branch.File{Prefix: branch.DatabasePrefix(ref(version), "main"), Level: level, Min: lo, Max: hi, Size: 10}
	if _, err := b.Put(t.Context(), f.Key(), bytes.NewReader(make([]byte, 10)), 10, objstore.Condition{IfAbsent: true}); err != nil {
		t.Fatal(err)
	}
	return f
}

func fork(t *testing.T, s *branch.Store, parent, child string, txid uint64, files ...branch.File) *branch.Manifest {
	t.Helper()
	m, err := s.Fork(t.Context(), branch.Fork{
		Parent: ref(parent), Child: ref(child), ID: "fork-" + child, At: time.UnixMilli(1e12),
		Cuts: map[string]branch.Cut{"main": {Kind: "d1", PageSize: 4096, TXID: txid, Files: files}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func has(t *testing.T, b objstore.Bucket, f branch.File) bool {
	t.Helper()
	_, err := b.Stat(t.Context(), f.Key())
	if err != nil && !errors.Is(err, objstore.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func TestKeys(t *testing.T) {
	t.Parallel()
	f := branch.File{Prefix: "p/v1/db/main", Level: 9, Min: 1, Max: 0x2a}
	if got := f.Key(); got != "p/v1/db/main/ltx/0009/0000000000000001-000000000000002a.ltx" {
		t.Errorf("key %s", got)
	}
	if back, ok := branch.ParseKey(f.Key()); !ok || back != f {
		t.Errorf("parsed %+v, %v", back, ok)
	}
	for _, bad := range []string{"p/v1/version.json", "p/v1/db/main/ltx/9/1-2.ltx", f.Key() + "x", "p/v1/blobs/x"} {
		if got, ok := branch.ParseKey(bad); ok {
			t.Errorf("%s was read as %+v", bad, got)
		}
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	f := func(level int, lo, hi uint64) branch.File {
		return branch.File{Prefix: "p/v/db/s", Level: level, Min: lo, Max: hi, Size: 1}
	}
	all := []branch.File{f(0, 1, 1), f(0, 2, 2), f(0, 3, 3), f(0, 4, 4), f(0, 5, 5), f(0, 6, 6), f(1, 1, 2), f(1, 3, 4), f(2, 1, 4), f(9, 1, 3)}
	for _, c := range []struct {
		txid  uint64
		files []branch.File
		want  []branch.File
	}{
		{0, all, nil},
		{1, all, []branch.File{f(0, 1, 1)}},
		{2, all, []branch.File{f(1, 1, 2)}},
		{3, all, []branch.File{f(9, 1, 3)}},
		{4, all, []branch.File{f(9, 1, 3), f(0, 4, 4)}},
		{6, all, []branch.File{f(9, 1, 3), f(0, 4, 4), f(0, 5, 5), f(0, 6, 6)}},
		{5, all[4:9], []branch.File{f(2, 1, 4), f(0, 5, 5)}},
	} {
		got, err := branch.Plan(c.files, c.txid)
		if err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("plan of %d: %v\n%s", c.txid, err, cmp.Diff(c.want, got))
		}
	}
	for txid, files := range map[uint64][]branch.File{7: all, 5: all[:3], 3: {f(0, 1, 1), f(0, 3, 3)}, 2: {f(1, 1, 3)}} {
		if got, err := branch.Plan(files, txid); !errors.Is(err, branch.ErrNotRestorable) {
			t.Errorf("plan of %d: %v, %v", txid, got, err)
		}
	}
}

func TestForkOnce(t *testing.T) {
	t.Parallel()
	b := new(memstore.Bucket)
	s := open(t, b)
	files := []branch.File{write(t, b, "v1", 1, 1, 2), write(t, b, "v1", 0, 2, 2)}
	m := fork(t, s, "v1", "v2", 2, files...)
	back, err := s.Load(t.Context(), ref("v2"))
	if err != nil || !cmp.Equal(m, back) {
		t.Fatalf("%v\n%s", err, cmp.Diff(m, back))
	}
	// A retry after the parent has changed returns the first fork.
	again := fork(t, s, "v1", "v2", 3, append(files, write(t, b, "v1", 0, 3, 3))...)
	if !cmp.Equal(m, again) {
		t.Errorf("the retry made another child: %s", cmp.Diff(m, again))
	}
	_, err = s.Fork(t.Context(), branch.Fork{Parent: ref("v1"), Child: ref("v2"), ID: "other"})
	if svc.CodeOf(err) != "branch_exists" {
		t.Errorf("another fork into the same child: %v", err)
	}
	if m, err := s.Load(t.Context(), ref("v1")); m != nil || err != nil {
		t.Errorf("a root has the manifest %+v, %v", m, err)
	}
	crossing := branch.Cut{TXID: 1, Files: files}
	if _, err := s.Fork(t.Context(), branch.Fork{Parent: ref("v1"), Child: ref("v3"), ID: "x", Cuts: map[string]branch.Cut{"main": crossing}}); err == nil {
		t.Error("a file across the cut was accepted")
	}
}

func TestManifestForm(t *testing.T) {
	t.Parallel()
	m := &branch.Manifest{
		Parent: ref("v1"), ForkID: "f", At: time.UnixMilli(0).UTC(),
		Databases: map[string]branch.DatabaseBase{"main": {Kind: "d1", PageSize: 4096, TXID: 55, Files: []branch.File{
			{Prefix: "p/v0/db/main", Level: 9, Min: 1, Max: 54, Size: 131072000}, {Prefix: "p/v1/db/main", Min: 55, Max: 55, Size: 3340},
		}}},
	}
	got, err := json.Marshal(m)
	want := `{"v":1,"parent":"p/v1","fork_id":"f","at":"1970-01-01T00:00:00Z","src":["p/v0/db/main","p/v1/db/main"],` +
		`"stores":{"main":{"kind":"d1","page_size":4096,"fork_txid":55,"base":[[0,9,1,54,131072000],[1,0,55,55,3340]]}}}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\n%s", err, got, want)
	}
	for _, bad := range []string{
		strings.Replace(want, `"v":1`, `"v":2`, 1), strings.Replace(want, `[1,0,55`, `[2,0,55`, 1),
		strings.Replace(want, `55,55,3340`, `55,56,3340`, 1), strings.Replace(want, `[0,9,1,54`, `[0,9,1,53`, 1),
		strings.Replace(want, `3340`, `-1`, 1), strings.Replace(want, `p/v1","fork`, `v1","fork`, 1), want[:40],
	} {
		if err := json.Unmarshal([]byte(bad), new(branch.Manifest)); err == nil {
			t.Errorf("accepted %s", bad)
		}
	}
}

func TestOwnershipChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, new(memstore.Bucket))
		ctx, a, b := t.Context(), svc.Owner{Node: "a", Session: "1"}, svc.Owner{Node: "b", Session: "2"}
		la, err := s.Hold(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		grant, err := s.Acquire(ctx, ref("v"), a, "parent")
		if err != nil || grant.Epoch != 1 {
			t.Fatal(grant, err)
		}
		// A live owner keeps the version, however long the other node waits.
		short, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		if g, err := s.Acquire(short, ref("v"), b, ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("taken from a live owner: %+v, %v", g, err)
		}
		lb, err := s.Hold(ctx, b)
		if err := errors.Join(err, lb.Stop(ctx)); err != nil {
			t.Fatal(err)
		}
		nodes, err := s.Nodes(ctx)
		if err != nil || len(nodes) != 2 || nodes[0].Owner != a || nodes[0].Released || time.Since(nodes[0].Renewed) > s.TTL() || nodes[1].Owner != b || !nodes[1].Released {
			t.Errorf("nodes: %+v, %v", nodes, err)
		}
		if err := s.Archive(ctx, grant, nil, nil); err != nil {
			t.Fatal(err)
		}
		r, err := s.Record(ctx, ref("v"))
		if err != nil || r.State != branch.StateArchived || r.Owner != "" || r.Parent != "parent" {
			t.Fatal(r, err)
		}
		if err := s.Holds(ctx, grant); !errors.Is(err, branch.ErrLost) {
			t.Errorf("holds after archive: %v", err)
		}
		next, err := s.Acquire(ctx, ref("v"), b, "")
		if err != nil || next.Epoch != 2 {
			t.Fatal(next, err)
		}
		if err := s.Archive(ctx, grant, nil, nil); !errors.Is(err, branch.ErrLost) {
			t.Errorf("archived with an old grant: %v", err)
		}
		if err := errors.Join(s.Release(ctx, grant), s.Release(ctx, next), la.Stop(ctx), la.Stop(ctx)); err != nil {
			t.Error(err)
		}
	})
}

// TestMachinesOfOneDaemon: between machines of one daemon there is no wait for a lease, and the
// log is claimed. A machine of another daemon waits for the lease of the daemon.
func TestMachinesOfOneDaemon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, new(memstore.Bucket))
		daemon := svc.Owner{Node: "a", Session: "1"}
		life, kill := context.WithCancel(t.Context())
		defer kill()
		if _, err := s.Hold(life, daemon); err != nil {
			t.Fatal(err)
		}
		for i, machine := range []string{"m1", "m2"} {
			began := time.Now()
			g, err := s.Acquire(t.Context(), ref("v"), daemon.On(machine), "")
			if err != nil || g.Owner.Node != "a."+machine || g.TakenOver != (i > 0) || time.Since(began) > 0 {
				t.Errorf("%s: %+v after %s, %v", machine, g, time.Since(began), err)
			}
		}
		kill()
		began := time.Now()
		g, err := s.Acquire(t.Context(), ref("v"), svc.Owner{Node: "b", Session: "1"}.On("m1"), "")
		if waited := time.Since(began); err != nil || !g.TakenOver || waited < 15*time.Second {
			t.Errorf("another daemon: %+v after %s, %v", g, waited, err)
		}
	})
}

// TestTakeoverWaitsForTheLease crashes an owner and measures how long a takeover waits.
func TestTakeoverWaitsForTheLease(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		end      func(t *testing.T, l *branch.Lease, kill context.CancelFunc)
		min, max time.Duration
	}{
		{"killed", func(_ *testing.T, _ *branch.Lease, kill context.CancelFunc) { kill() }, 15 * time.Second, 18 * time.Second},
		{"stopped", func(t *testing.T, l *branch.Lease, _ context.CancelFunc) {
			t.Helper()
			if err := l.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := open(t, new(memstore.Bucket))
				owner := svc.Owner{Node: "a", Session: "1"}
				life, kill := context.WithCancel(t.Context())
				defer kill()
				l, err := s.Hold(life, owner)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Acquire(t.Context(), ref("v"), owner, ""); err != nil {
					t.Fatal(err)
				}
				time.Sleep(7 * time.Second)
				c.end(t, l, kill)
				begin := time.Now()
				g, err := s.Acquire(t.Context(), ref("v"), svc.Owner{Node: "b", Session: "2"}, "")
				if took := time.Since(begin); err != nil || g.Epoch != 2 || took < c.min || took > c.max {
					t.Errorf("epoch %d, %v after %v", g.Epoch, err, took)
				}
			})
		})
	}
}

func TestNewSessionOfANode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, new(memstore.Bucket))
		old, err := s.Hold(t.Context(), svc.Owner{Node: "a", Session: "1"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Acquire(t.Context(), ref("v"), svc.Owner{Node: "a", Session: "1"}, ""); err != nil {
			t.Fatal(err)
		}
		fresh, err := s.Hold(t.Context(), svc.Owner{Node: "a", Session: "2"})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if g, err := s.Acquire(t.Context(), ref("v"), svc.Owner{Node: "a", Session: "2"}, ""); err != nil || g.Epoch != 2 || time.Since(begin) > 0 {
			t.Error(g, err, time.Since(begin))
		}
		select {
		case <-old.Lost():
		case <-time.After(10 * time.Second):
			t.Error("the old session is not lost")
		}
		if fresh.Age() > 6*time.Second {
			t.Errorf("age %v", fresh.Age())
		}
		if err := errors.Join(old.Stop(t.Context()), fresh.Stop(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

func TestClaimTriesAgainWhileTheGrantHolds(t *testing.T) {
	t.Parallel()
	s := open(t, new(memstore.Bucket))
	g, err := s.Acquire(t.Context(), ref("v"), svc.Owner{Node: "a", Session: "1"}, "")
	if err != nil {
		t.Fatal(err)
	}
	tries := 0
	lose := func(n int) func(context.Context) error {
		return func(context.Context) error {
			if tries++; tries < n {
				return fmt.Errorf("slot 7: %w", branch.ErrFenced)
			}
			return nil
		}
	}
	if err := s.Claim(t.Context(), g, lose(3)); err != nil || tries != 3 {
		t.Errorf("%d tries, %v", tries, err)
	}
	if err := s.Destroy(t.Context(), ref("v")); err != nil {
		t.Fatal(err)
	}
	tries = 0
	if err := s.Claim(t.Context(), g, lose(3)); !errors.Is(err, branch.ErrLost) || tries != 1 {
		t.Errorf("%d tries, %v", tries, err)
	}
	if _, err := s.Acquire(t.Context(), ref("v"), g.Owner, ""); !errors.Is(err, svc.Gone) {
		t.Errorf("acquired a destroyed version: %v", err)
	}
}
