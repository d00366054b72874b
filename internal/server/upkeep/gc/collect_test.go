package gc_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/server/upkeep/gc"
	"github.com/svcctl/svcctl/internal/svc"
)

func amount(objects int) svc.Amount { return svc.Amount{Objects: objects, Bytes: int64(10 * objects)} }

// TestCollect: parent, child and grandchild; the child is destroyed, the parent
// compacts, one deploy failed, and one fork is unknown to the registry.
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
		w.markDead("parent", f[:2]...)
		w.forkOnly("parent", "failed", f...)
		w.registry.set("shop", "failed", svc.StatusFailed, "")
		w.forkOnly("parent", "orphan", f...)
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
		w.collect() // marks the unknown fork
		time.Sleep(61 * time.Minute)
		r = w.collect()
		pins := func(version string, n int) svc.GCPin { return svc.GCPin{Version: version, Amount: amount(n)} }
		want := []svc.GCVersion{
			{ID: "grandchild", Status: svc.StatusReady, Data: "live", Live: amount(2)},
			{ID: "middle", Status: svc.StatusDestroyed, Data: "destroying", Pinned: amount(1), PinnedBy: []svc.GCPin{pins("grandchild", 1)}},
			{ID: "orphan", Data: "destroying"},
			{
				ID: "parent", Status: svc.StatusReady, Data: "live", Live: amount(2), Pinned: amount(2),
				PinnedBy: []svc.GCPin{pins("grandchild", 2)},
			},
		}
		if d := cmp.Diff(want, r.Projects[0].Versions); d != "" || r.LastSweep.IsZero() {
			t.Error(d)
		}
		if w.has(g[1]) || !w.has(g[0]) || !w.has(f[0]) || !w.has(merged) {
			t.Error("a needed object was deleted")
		}
		if w.counted.objects != 1 || w.counted.bytes != 10 || w.counted.pinned != 30 {
			t.Errorf("%+v", w.counted)
		}
		if a := w.audit(); len(a.Problems) > 0 || a.Projects != 2 || a.Versions != 3 || a.Databases != 2 || a.Files != 4+6 {
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

// TestCollectIsAnEvent: a collection that changes something says how it ended; a dry run says nothing.
func TestCollectIsAnEvent(t *testing.T) {
	t.Parallel()
	var events []svc.FeedEvent
	w := newWorld(t, func(d *gc.Deps) { d.Publish = func(e svc.FeedEvent) { events = append(events, e) } })
	w.version("v1")
	w.ask(svc.GCRequest{DryRun: true})
	w.ask(svc.GCRequest{Project: "shop"})
	w.registry.breakDown("shop", errors.New("the registry is away"))
	_, _ = w.gc.Collect(t.Context(), svc.GCRequest{}) // its failure is the event
	if len(events) != 2 || events[0].Type != "gc.done" || events[0].Project != "shop" || events[0].Data.Status != "done" || events[0].Data.Detail != "deleted 0 objects, 0 bytes" ||
		events[1].Project != "" || events[1].Data.Status != "failed" || events[1].Data.Error == "" {
		t.Errorf("%+v", events)
	}
}

// TestCollectContinues: a project that fails does not stop the collection and has its
// error in the report.
func TestCollectContinues(t *testing.T) {
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
			t.Error("the log does not have the error: " + text)
		}
	})
}

func (w *world) put(key, body string) {
	w.t.Helper()
	if _, err := w.bucket.Put(w.t.Context(), key, strings.NewReader(body), int64(len(body)), objstore.Condition{}); err != nil {
		w.t.Fatal(err)
	}
}

// hangingLists returns a bucket whose listings of one prefix hang.
func hangingLists(prefix string) objstore.Bucket {
	return &objstoretest.Hooked{Bucket: new(memstore.Bucket), Around: func(ctx context.Context, op objstoretest.Op, key string, do func() error) error {
		if op == objstoretest.List && key == prefix {
			<-ctx.Done()
			return ctx.Err()
		}
		return do()
	}}
}

// TestCollectIsBounded: a collection or an audit on demand ends at the limit.
func TestCollectIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOn(t, hangingLists("shop/"))
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
			t.Errorf("with an ended context: %v", err)
		}
	})
}

// TestJanitors: the janitors sweep every ten minutes, audit every day, and end with
// their context.
func TestJanitors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.version("v1")
		f := w.write("v1", 1, 2)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); janitors(ctx, w.gc, gc.DefaultEvery) }()
		time.Sleep(2 * time.Minute)
		if sweeps, audits := w.counted.seen(); sweeps != 1 || audits != 1 {
			t.Errorf("after two minutes: %d sweeps, %d audits", sweeps, audits)
		}
		time.Sleep(100 * time.Minute)
		if sweeps, _ := w.counted.seen(); sweeps < 10 || sweeps > 12 {
			t.Errorf("after 102 minutes: %d sweeps", sweeps)
		}
		w.destroy("v1")
		time.Sleep(83 * time.Minute) // the grace and two late sweeps
		if w.has(f[0]) || w.has(f[1]) {
			t.Error("the data of a destroyed version exists after the grace and two sweeps")
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
			t.Error("a janitor ran after the end of its context")
		}
	})
}

// TestJanitorsStop: Stop ends a run whose request hangs.
func TestJanitorsStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOn(t, hangingLists("shop/"))
		w.version("v1")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); janitors(ctx, w.gc, gc.DefaultEvery) }()
		time.Sleep(5 * time.Minute)
		began := time.Now()
		cancel()
		<-done
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
		if sweeps, _ := w.counted.seen(); sweeps > 0 {
			t.Error("an interrupted sweep counts as done")
		}
	})
}

func TestNewChecksItsDeps(t *testing.T) {
	t.Parallel()
	if _, err := gc.New(gc.Deps{}); err == nil {
		t.Error("New accepts empty Deps")
	}
}

// TestCollectInterrupted interrupts a sweep at each of its requests: live versions
// keep all that they need, and the next sweep completes it.
func TestCollectInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for n := 1; ; n++ {
			left, cut := 0, context.CancelFunc(nil)
			w := newWorldOn(t, objstoretest.Fail(new(memstore.Bucket), func(op objstoretest.Op, _ string) error {
				if op == objstoretest.Get || op == objstoretest.Stat { // concurrent, and without effect
					return nil
				}
				if left--; left == 0 {
					cut()
				}
				return nil
			}))
			w.version("parent")
			f := w.write("parent", 1, 4)
			w.fork("parent", "child", f[:2]...)
			w.destroy("parent")
			w.forkOnly("parent", "failed", f...)
			w.registry.set("shop", "failed", svc.StatusFailed, "1")
			for range 3 {
				ctx, cancel := context.WithCancel(t.Context())
				left, cut = n, cancel
				_, _ = w.gc.Collect(ctx, svc.GCRequest{}) // interrupted
				cancel()
				time.Sleep(61 * time.Minute)
			}
			reached := left > 0
			if !w.has(f[0]) || !w.has(f[1]) {
				t.Fatalf("interrupted at request %d: the child has lost what it needs", n)
			}
			for range 3 {
				w.collect()
				time.Sleep(61 * time.Minute)
			}
			if w.has(f[2]) || w.has(f[3]) || len(w.keys()) != 2+1+2 {
				t.Fatalf("interrupted at request %d, and not completed: %v", n, w.keys())
			}
			if reached {
				t.Logf("%d requests", n)
				return
			}
		}
	})
}
