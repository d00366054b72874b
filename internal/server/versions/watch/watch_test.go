package watch_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/server/versions/watch"
	"github.com/svcctl/svcctl/internal/svc"
)

// world is a registry with one release, v2 in place of v1, and the requests of v2.
type world struct {
	mu         sync.Mutex
	production string
	op         svc.Promotion
	ended      time.Time // of the watch
	back       map[string]svc.PromotionStatus
	requests   []svc.ReleaseRequest
	refuse     error               // of a release
	outcome    svc.PromotionStatus // of a release that goes back, after ten seconds
	traffic    svc.Traffic
}

func newWorld() *world {
	op := svc.Promotion{ID: "op-1", Project: "shop", Version: "v2", Previous: "v1", Status: svc.PromotionDone}
	op.Watch = svc.Watch{For: 5 * time.Minute, AbortOn: "errors>1%"}.Begun(time.Now())
	return &world{production: "v2", op: op, back: map[string]svc.PromotionStatus{}, outcome: svc.PromotionDone}
}

func (w *world) start(t *testing.T) *watch.Service {
	t.Helper()
	s := watch.New(watch.Deps{Registry: w, Traffic: w, Release: w.release, Logger: slog.New(slog.DiscardHandler)})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (w *world) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

func (w *world) Project(context.Context, string) (svc.Project, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return svc.Project{ID: "shop", ProdVersionID: w.production}, nil
}

func (w *world) Promotion(_ context.Context, _, id string) (svc.Promotion, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return svc.Promotion{ID: id, Status: w.back[id]}, nil
}

func (w *world) WatchedPromotions(context.Context) (ops []svc.Promotion, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.op.Watch.State == svc.WatchWatching {
		ops = append(ops, w.op)
	}
	return ops, nil
}

func (w *world) SetWatch(_ context.Context, _ svc.Promotion, now svc.Watch) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.op.Watch = now; now.State != svc.WatchWatching {
		w.ended = time.Now()
	}
	return nil
}

func (w *world) Version(ref svc.Ref, _ time.Duration) svc.Traffic {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ref.Version != "v2" {
		return svc.Traffic{}
	}
	return w.traffic
}

func (w *world) release(_ context.Context, candidate svc.Ref, req svc.ReleaseRequest) (svc.Promotion, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, req)
	if w.refuse != nil {
		return svc.Promotion{}, w.refuse
	}
	id := "op-back-" + candidate.Version + strings.Repeat("+", len(w.requests))
	w.back[id] = svc.PromotionRunning
	time.AfterFunc(10*time.Second, func() {
		w.set(func() {
			if w.back[id] = w.outcome; w.outcome == svc.PromotionDone {
				w.production = "v3"
			}
		})
	})
	return svc.Promotion{ID: id}, nil
}

// TestWatch runs watches to their ends.
func TestWatch(t *testing.T) {
	t.Parallel()
	bad := svc.Traffic{Requests: 1000, Errors: 31}
	for name, test := range map[string]struct {
		change   func(*world) // after a minute
		state    svc.WatchState
		detail   string
		after    time.Duration // at most
		releases int
	}{
		"nothing happens":  {func(*world) {}, svc.WatchPassed, "", 5 * time.Minute, 0},
		"errors":           {func(w *world) { w.traffic = bad }, svc.WatchAborted, "errors 3.1% > 1%", 80 * time.Second, 1},
		"another version":  {func(w *world) { w.production, w.traffic = "v9", bad }, svc.WatchStopped, "v9 became production", 65 * time.Second, 0},
		"it is undone":     {func(w *world) { w.traffic, w.outcome = bad, svc.PromotionFailed }, svc.WatchStopped, "errors 3.1% > 1%; the release of the earlier code was undone 3 times", 2 * time.Minute, 3},
		"the schema moved": {func(w *world) { w.traffic, w.refuse = bad, svc.Errorf(svc.Conflict, svc.CodeSchemaMoved, "migrations") }, svc.WatchStopped, "errors 3.1% > 1%, but the server did not go back: schema_moved: migrations", 65 * time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w, began := newWorld(), time.Now()
				s := w.start(t)
				s.Watch(t.Context(), w.op) // again: a release that the previous process left may be reported twice
				time.Sleep(time.Minute)
				w.set(func() { test.change(w) })
				time.Sleep(6 * time.Minute)
				if err := s.Stop(t.Context()); err != nil {
					t.Error(err)
				}
				if got := w.op.Watch; got.State != test.state || got.Detail != test.detail || w.ended.Sub(began) > test.after || (got.Operation != "") != (test.releases > 0 && w.refuse == nil) {
					t.Errorf("%+v after %s", got, w.ended.Sub(began))
				}
				if len(w.requests) != test.releases {
					t.Errorf("releases: %+v", w.requests)
				}
				for i, req := range w.requests {
					if !req.Rollback || req.Force || req.Reason != "watch: errors 3.1% > 1%" || *req.ExpectedProd != "v2" || (req.LateRequests == svc.LateRefuse) != (i > 0) {
						t.Errorf("release %d: %+v", i, req)
					}
				}
			})
		})
	}
}

// TestRestart: the next process continues a watch, also one that was going back.
func TestRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		s := w.start(t)
		w.set(func() {
			w.traffic, w.refuse = svc.Traffic{Requests: 1000, Errors: 31}, svc.Errorf(svc.Unavailable, svc.CodeShuttingDown, "stops")
		})
		time.Sleep(time.Minute)
		if err := s.Stop(t.Context()); err != nil || w.op.Watch.State != svc.WatchWatching {
			t.Fatalf("%v: %+v", err, w.op.Watch)
		}
		w.set(func() { w.refuse = nil })
		s = w.start(t)
		time.Sleep(6 * time.Second)
		if err := s.Stop(t.Context()); err != nil || w.op.Watch.Operation == "" || w.op.Watch.State != svc.WatchWatching {
			t.Fatalf("%v: %+v", err, w.op.Watch)
		}
		s = w.start(t)
		time.Sleep(time.Minute)
		if err := s.Stop(t.Context()); err != nil || w.op.Watch.State != svc.WatchAborted || w.production != "v3" {
			t.Errorf("%v: %+v", err, w.op.Watch)
		}
	})
}
