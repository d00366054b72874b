package promote_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/server/versions/promote"
	"github.com/svcctl/svcctl/internal/svc"
)

// uncopied starts a release whose commit the copy of the registry lacks while away is true, and waits
// for a minute.
func uncopied(t *testing.T, away *atomic.Bool) (*world, *daemon, *releases, svc.Promotion) {
	t.Helper()
	w := newWorld(t)
	w.addReady(t, "v1")
	w.addReady(t, "check")
	r := &releases{w: w, fail: map[string]error{}, slow: map[string]time.Duration{}}
	d := w.start(t, func(deps *promote.Deps) {
		r.use(deps)
		deps.Survives = func(context.Context) error {
			if away.Load() {
				return errors.New("no store")
			}
			return nil
		}
	})
	if err := d.AssignFirst(t.Context(), ref("v1")); err != nil {
		t.Fatal(err)
	}
	away.Store(true)
	op, err := d.Release(t.Context(), ref("check"), svc.ReleaseRequest{VersionID: "v2"})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute)
	if got, err := w.Promotion(t.Context(), "shop", op.ID); err != nil || got.Status != svc.PromotionRunning {
		t.Errorf("the release is %s, %v", got.Status, err)
	}
	if got := d.gateway.log(); slices.Contains(got, "production v2") || slices.Contains(got, "release") || r.called("released v1") || r.called("undone v1") {
		t.Errorf("before the copy has the commit: %q, %q", got, r.log())
	}
	return w, d, r, op
}

// TestReleaseAwaitsCopy: no request reaches the new version before the copy of the registry has it. A
// machine that takes over would continue with the old production, without what the new one
// has acknowledged.
func TestReleaseAwaitsCopy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		w, d, _, op := uncopied(t, &away)
		away.Store(false)
		<-d.done
		if got, err := w.Promotion(t.Context(), "shop", op.ID); err != nil || got.Status != svc.PromotionDone {
			t.Errorf("the release is %s %s, %v", got.Status, got.Error, err)
		}
		w.check(t, d.gateway, "v2")
	})
}

// TestReleaseStoppedBeforeCopy: a server that stops while the copy of the registry lacks a release leaves it
// unchanged. Its next start has the commit, and finishes it.
func TestReleaseStoppedBeforeCopy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		w, d, r, op := uncopied(t, &away)
		d.stop(t)
		if got, err := w.Promotion(t.Context(), "shop", op.ID); err != nil || got.Status != svc.PromotionRunning || r.called("released v1") || r.called("undone v1") {
			t.Errorf("after the stop: %s, %v, %q", got.Status, err, r.log())
		}
		next := w.start(t, r.use)
		if err := next.ResumeAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.check(t, next.gateway, "v2")
	})
}
