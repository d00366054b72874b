package gc_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/gc"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

func amount(objects int) svc.Amount { return svc.Amount{Objects: objects, Bytes: int64(10 * objects)} }

// TestCollect: parent, child and grandchild; the middle one is destroyed, the
// parent compacts, one deploy failed, one fork is nobody's.
func TestCollect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.version("parent")
		f := w.write("parent", 1, 3)
		w.fork("parent", "middle", f...)
		g := w.write("middle", 4, 5)
		w.fork("middle", "grandchild", slices.Concat(f, g[:1])...)
		w.write("grandchild", 5, 6)
		merged := w.file("parent", 1, 1, 3)
		w.bury("parent", f[:2]...)
		w.forkOnly("parent", "failed", f...)
		w.registry.set("shop", "failed", svc.StatusFailed, "")
		w.forkOnly("parent", "nobodys", f...)
		w.registry.set("idle", "v1", svc.StatusReady, "")
		w.destroy("middle")

		r := w.ask(svc.GCRequest{DryRun: true})
		before := w.keys()
		if d := cmp.Diff([]string{"failed"}, r.Projects[0].Marked); d != "" || len(r.Projects) != 1 || !r.LastSweep.IsZero() || r.Grace != time.Hour {
			t.Errorf("%s%+v", d, r)
		}
		w.ask(svc.GCRequest{DryRun: true})
		if d := cmp.Diff(before, w.keys()); d != "" {
			t.Error("a dry run changed something:", d)
		}

		w.collect()
		time.Sleep(61 * time.Minute)
		w.collect() // marks the fork of nobody
		time.Sleep(61 * time.Minute)
		r = w.collect()
		pins := func(version string, n int) svc.GCPin { return svc.GCPin{Version: version, Amount: amount(n)} }
		want := []svc.GCVersion{
			{ID: "grandchild", Status: svc.StatusReady, Data: "live", Live: amount(2)},
			{ID: "middle", Status: svc.StatusDestroyed, Data: "destroying", Pinned: amount(1), PinnedBy: []svc.GCPin{pins("grandchild", 1)}},
			{ID: "nobodys", Data: "destroying"},
			{
				ID: "parent", Status: svc.StatusReady, Data: "live", Live: amount(2), Pinned: amount(2),
				PinnedBy: []svc.GCPin{pins("grandchild", 2)},
			},
		}
		if d := cmp.Diff(want, r.Projects[0].Versions); d != "" || r.LastSweep.IsZero() {
			t.Error(d)
		}
		if w.has(g[1]) || !w.has(g[0]) || !w.has(f[0]) || !w.has(merged) {
			t.Error("only what nobody needs is to go")
		}
		if w.counted.objects != 1 || w.counted.bytes != 10 || w.counted.pinned != 30 {
			t.Errorf("%+v", w.counted)
		}
		if a := w.audit(); len(a.Problems) > 0 || a.Projects != 2 || a.Versions != 3 || a.Stores != 2 || a.Files != 4+6 {
			t.Errorf("%+v", a)
		}

		w.destroy("grandchild")
		w.destroy("parent")
		for range 2 {
			w.collect()
			time.Sleep(61 * time.Minute)
		}
		w.collect()
		if left := w.keys(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		if a := w.audit(); len(a.Problems) > 0 {
			t.Errorf("%+v", a)
		}
	})
}

func TestCollectOneProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.version("v1")
	w.registry.set("idle", "v1", svc.StatusReady, "")
	for project, want := range map[string]int{"shop": 1, "idle": 0} {
		if r := w.ask(svc.GCRequest{Project: project}); len(r.Projects) != want || !r.LastSweep.IsZero() {
			t.Errorf("%s: %+v", project, r)
		}
	}
	if _, err := w.gc.Collect(t.Context(), svc.GCRequest{Project: "none"}); svc.CodeOf(err) != "project_not_found" {
		t.Error(err)
	}
	if _, err := w.gc.Audit(t.Context(), "none"); svc.CodeOf(err) != "project_not_found" {
		t.Error(err)
	}
}

// TestCollectGoesOn: a project that fails stops no other, and is named.
func TestCollectGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.version("v1")
		f := w.write("v1", 1, 2)
		w.destroy("v1")
		w.put("broken/v1/version.json", "{")
		w.registry.breakDown("away", errors.New("secret cause"))
		w.put("away/v1/db/main/ltx/0000/0000000000000001-0000000000000001.ltx", "x")
		for range 2 {
			r, err := w.gc.Collect(t.Context(), svc.GCRequest{})
			if err != nil || len(r.Projects) != 3 || !r.LastSweep.IsZero() {
				t.Fatalf("%+v, %v", r, err)
			}
			for i, code := range []string{"gc_failed", "gc_failed", ""} {
				if e := svc.AsError(r.Projects[i].Err); e != nil && (e.Code != code || strings.Contains(e.Detail+e.Hint, "secret")) || e == nil && code != "" {
					t.Errorf("%s: %v", r.Projects[i].ID, e)
				}
			}
			time.Sleep(61 * time.Minute)
		}
		if w.has(f[0]) {
			t.Error("the project after the broken ones was not swept")
		}
		if text := w.log.String(); !strings.Contains(text, "project=broken") || !strings.Contains(text, "secret cause") {
			t.Error("the log does not say what failed: " + text)
		}
	})
}

func (w *world) put(key, body string) {
	w.t.Helper()
	if _, err := w.bucket.Put(w.t.Context(), key, strings.NewReader(body), int64(len(body)), objstore.Condition{}); err != nil {
		w.t.Fatal(err)
	}
}

// slow is a bucket whose listings of one prefix hang.
type slow struct {
	objstore.Bucket
	prefix string
}

func (s slow) List(ctx context.Context, prefix, after string, limit int) ([]objstore.Info, error) {
	if prefix == s.prefix {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Bucket.List(ctx, prefix, after, limit)
}

// TestCollectIsBounded: who waits for it gets an answer within the limit.
func TestCollectIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOn(t, slow{new(objstore.Mem), "shop/"})
		w.put("early/v1/db/main/ltx/0000/0000000000000001-0000000000000001.ltx", "x")
		w.version("v1")
		began := time.Now()
		r, err := w.gc.Collect(t.Context(), svc.GCRequest{})
		if err != nil || !r.Incomplete || len(r.Projects) != 2 || r.Projects[0].Err != nil || time.Since(began) != gc.DefaultLimit || !r.LastSweep.IsZero() {
			t.Errorf("%+v, %v after %v", r, err, time.Since(began))
		}
		a, err := w.gc.Audit(t.Context(), "")
		if err != nil || !a.Incomplete || !r.LastAudit.IsZero() {
			t.Errorf("%+v, %v", a, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.gc.Collect(ctx, svc.GCRequest{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the caller left: %v", err)
		}
	})
}

// TestRun: sweeps every ten minutes, audits every day, and ends with its context.
func TestRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.version("v1")
		f := w.write("v1", 1, 2)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); w.gc.Run(ctx) }()
		time.Sleep(2 * time.Minute)
		if sweeps, audits := w.counted.seen(); sweeps != 1 || audits != 1 {
			t.Errorf("after two minutes: %d sweeps, %d audits", sweeps, audits)
		}
		time.Sleep(100 * time.Minute)
		if sweeps, _ := w.counted.seen(); sweeps < 10 || sweeps > 12 {
			t.Errorf("after 102 minutes: %d sweeps", sweeps)
		}
		w.destroy("v1")
		time.Sleep(83 * time.Minute) // the grace, and two sweeps that come late
		if w.has(f[0]) || w.has(f[1]) {
			t.Error("a destroyed version is there after the grace and two sweeps")
		}
		time.Sleep(72 * time.Hour)
		if _, audits := w.counted.seen(); audits < 3 || audits > 4 {
			t.Errorf("after three days: %d audits", audits)
		}
		cancel()
		synctest.Wait()
		select {
		case <-done:
		default:
			t.Error("it goes on after the end of its context")
		}
	})
}

// TestRunStopsAtOnce: also in the middle of a request that hangs.
func TestRunStopsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOn(t, slow{new(objstore.Mem), "shop/"})
		w.version("v1")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); w.gc.Run(ctx) }()
		time.Sleep(5 * time.Minute)
		began := time.Now()
		cancel()
		<-done
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
		if sweeps, _ := w.counted.seen(); sweeps > 0 {
			t.Error("a sweep that was cut off counts as done")
		}
	})
}

func TestNewChecksItsDeps(t *testing.T) {
	t.Parallel()
	if _, err := gc.New(gc.Deps{}); err == nil {
		t.Error("made of nothing")
	}
}

// cutter is a bucket that ends a context at its n-th request.
type cutter struct {
	objstore.Bucket
	left int
	cut  context.CancelFunc
}

func (c *cutter) tick() {
	if c.left--; c.left == 0 {
		c.cut()
	}
}

func (c *cutter) Put(ctx context.Context, key string, body io.Reader, n int64, cond objstore.Condition) (objstore.Info, error) {
	c.tick()
	return c.Bucket.Put(ctx, key, body, n, cond)
}

func (c *cutter) List(ctx context.Context, prefix, after string, limit int) ([]objstore.Info, error) {
	c.tick()
	return c.Bucket.List(ctx, prefix, after, limit)
}

func (c *cutter) Delete(ctx context.Context, keys ...string) error {
	c.tick()
	return c.Bucket.Delete(ctx, keys...)
}

// TestCollectCutOff ends a sweep at each of its requests: what lives has all it
// needs, and the next sweep finishes.
func TestCollectCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for n := 1; ; n++ {
			c := &cutter{Bucket: new(objstore.Mem)}
			w := newWorldOn(t, c)
			w.version("parent")
			f := w.write("parent", 1, 4)
			w.fork("parent", "child", f[:2]...)
			w.destroy("parent")
			w.forkOnly("parent", "failed", f...)
			w.registry.set("shop", "failed", svc.StatusFailed, "1")
			for range 3 {
				ctx, cancel := context.WithCancel(t.Context())
				c.left, c.cut = n, cancel
				_, _ = w.gc.Collect(ctx, svc.GCRequest{}) // it was cut off
				cancel()
				time.Sleep(61 * time.Minute)
			}
			reached := c.left > 0
			if !w.has(f[0]) || !w.has(f[1]) {
				t.Fatalf("cut off at request %d: the child has lost what it needs", n)
			}
			for range 3 {
				w.collect()
				time.Sleep(61 * time.Minute)
			}
			if w.has(f[2]) || w.has(f[3]) || len(w.keys()) != 2+1+2 {
				t.Fatalf("cut off at request %d, and not made up for: %v", n, w.keys())
			}
			if reached {
				t.Logf("%d requests", n)
				return
			}
		}
	})
}
