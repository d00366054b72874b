package lifecycle_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/lifecycle"
	"github.com/svcctl/svcctl/internal/svc"
)

func idle(d *lifecycle.Deps) { d.Idle = lifecycle.Idle{After: time.Hour, Grace: 5 * time.Hour} }

// tick lets time pass and runs the idle ticker.
func (d *daemon) tick(t *testing.T, after time.Duration) {
	t.Helper()
	<-time.After(after)
	if err := d.ArchiveIdle(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestArchiveIdle: only a version that is idle is archived; production, a pin, a
// request and work of its own keep a version ready.
// spec: [C9.3] [C9.4] [C9.5] [C9.8] [C9.9] [C16.21]
func TestArchiveIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		all := []string{"prod", "pinned", "asked", "recorded", "busy", "due", "down", "idle"}
		for _, id := range all {
			w.add(t, id, registrytest.ToReady()...)
		}
		w.add(t, "failed", svc.TriggerFetch, svc.TriggerFail)
		if err := w.SetProduction(t.Context(), "shop", "", "prod"); err != nil {
			t.Fatal(err)
		}
		d := w.start(t, idle)
		if _, err := d.SetPinned(t.Context(), ref("pinned"), true); err != nil {
			t.Fatal(err)
		}
		d.up[ref("down")] = false
		d.tick(t, 59*time.Minute)
		if len(d.log()) > 0 {
			t.Errorf("before the time: %v", d.log())
		}
		d.asked[ref("asked")] = time.Now()
		if err := w.TouchRequests(t.Context(), map[svc.Ref]time.Time{ref("recorded"): time.Now()}); err != nil {
			t.Fatal(err)
		}
		d.work[ref("busy")], d.work[ref("due")] = svc.Wake{Pending: 1}, svc.Wake{At: time.Now().Add(time.Hour)}
		d.tick(t, time.Minute)
		for _, id := range all {
			want := svc.StatusReady
			if id == "idle" {
				want = svc.StatusArchived
			}
			if v := registrytest.Get(t, w.DB, ref(id)); v.Status != want {
				t.Errorf("%s is %s, want %s", id, v.Status, want)
			}
		}
		d.expect(t, ref("idle"), svc.StatusArchived, false, true)
		if _, err := d.SetPinned(t.Context(), ref("pinned"), false); err != nil {
			t.Fatal(err)
		}
		delete(d.work, ref("busy"))
		d.tick(t, time.Hour)
		for _, id := range []string{"asked", "recorded", "pinned", "busy"} {
			d.expect(t, ref(id), svc.StatusArchived, false, true)
		}
		d.expect(t, ref("prod"), svc.StatusReady, true, true)
	})
}

// TestIdleAfterWake: a version that was woken, or asked while its time ran out, is not
// idle yet. spec: [C9.7]
func TestIdleAfterWake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.add(t, "v1", registrytest.ToReady()...)
		d := w.start(t, idle)
		d.tick(t, time.Hour)
		d.expect(t, r, svc.StatusArchived, false, true)
		if _, err := d.Wake(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		d.tick(t, 59*time.Minute)
		d.expect(t, r, svc.StatusReady, true, true)
		d.tick(t, time.Minute)
		d.expect(t, r, svc.StatusArchived, false, true)
	})
}

// TestArchiveGrace: the version that a promote replaced has the longer time of grace.
// spec: [C8.15] [C16.22]
func TestArchiveGrace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.add(t, "v1", registrytest.ToReady()...)
		w.add(t, "v2", registrytest.ToReady()...)
		if err := w.SetProduction(t.Context(), "shop", "", "v2"); err != nil {
			t.Fatal(err)
		}
		op := svc.Promotion{ID: "op", Project: "shop", Version: "v2", Previous: "v1"}
		if err := w.CreatePromotion(t.Context(), op); err != nil {
			t.Fatal(err)
		}
		if err := w.FinishPromotion(t.Context(), "op", svc.PromotionOutcome{Status: svc.PromotionDone}); err != nil {
			t.Fatal(err)
		}
		d := w.start(t, idle)
		d.tick(t, 5*time.Hour-time.Second)
		d.expect(t, r, svc.StatusReady, true, true)
		d.tick(t, time.Second)
		d.expect(t, r, svc.StatusArchived, false, true)
	})
}

// TestIdleOff: without a time nothing is archived. spec: [C9.6] [C16.23]
func TestIdleOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.add(t, "v1", registrytest.ToReady()...)
		d := w.start(t)
		d.tick(t, 1000*time.Hour)
		d.expect(t, r, svc.StatusReady, true, true)
	})
}

// TestPinnedWhileArchiving: a pin that arrives after the check still protects.
// spec: [C9.4]
func TestPinnedWhileArchiving(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.add(t, "v1", registrytest.ToReady()...)
		d := w.start(t, idle, func(deps *lifecycle.Deps) { deps.Usage = pinning{deps.Usage, w} })
		d.tick(t, 2*time.Hour)
		d.expect(t, r, svc.StatusReady, true, true)
	})
}

// pinning pins a version when its work is asked for.
type pinning struct {
	lifecycle.Usage
	w *world
}

func (p pinning) NextWake(ctx context.Context, r svc.Ref) (svc.Wake, error) {
	if _, err := p.w.SetPinned(ctx, r, true); err != nil {
		return svc.Wake{}, err
	}
	return p.Usage.NextWake(ctx, r)
}
