package promote_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/promote"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestRelease: the calls of a release, in order. The process of the old version ends last, when its
// requests are over.
func TestRelease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d, r := releaseWorld(t)
		r.busy = 2
		op := d.release(t, w, svc.ReleaseRequest{VersionID: "v2"})
		if op.Status != svc.PromotionDone || op.Previous != "v1" || op.Candidate != "check" || op.Released.LateRefused != 3 {
			t.Errorf("%+v", op)
		}
		time.Sleep(time.Minute)
		want := []string{
			"begin", "awake v1", "ahead v1", "paused v1", "sealed v1", "fork", "prepare", "start", "commit", "released v1", "end",
			"retire v1", "retire v1", "retire v1",
		}
		if got := r.log(); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		if got := d.gateway.log(); !slices.Equal(got, []string{"hold", "production v2", "release", "websockets v1 production 0s"}) {
			t.Errorf("%q", got)
		}
		w.check(t, d.gateway, "v2")
	})
}

// TestReleaseFails: a step that fails before the commit undoes the release. Production has its
// requests, writes and events again, and the promotion names the step.
func TestReleaseFails(t *testing.T) {
	t.Parallel()
	boom := svc.Errorf(svc.Internal, svc.CodeReleaseCheck, "it broke")
	for name, tc := range map[string]struct {
		breaks func(*daemon, *releases)
		want   string
		held   bool // the hold had begun
	}{
		"stage":  {failing("begin", boom), "stage: release_check_failed: it broke", false},
		"ship":   {func(_ *daemon, r *releases) { r.slow["ahead v1"] = time.Hour }, "settle: step_timeout: the object store has not taken within 1m0s ", false},
		"settle": {failing("ahead v1", boom), "settle: release_check_failed: it broke", false},
		"drain":  {func(d *daemon, _ *releases) { d.gateway.inflight = make(chan struct{}) }, "drain: release_busy: ", true},
		"pause":  {failing("paused v1", boom), "pause: release_check_failed: it broke", true},
		"events": {func(_ *daemon, r *releases) { r.running = []string{"jobs"} }, "pause: release_busy: events of production did not end within 2s: jobs", true},
		"seal":   {failing("sealed v1", boom), "seal: release_check_failed: it broke", true},
		"fork":   {failing("fork", boom), "fork: release_check_failed: it broke", true},
		"check":  {failing("prepare", boom), "prepare: release_check_failed: it broke", true},
		"start":  {failing("start", boom), "check: release_check_failed: it broke", true},
		"commit": {failing("commit", boom), "commit: release_check_failed: it broke", true},
		"store":  {func(_ *daemon, r *releases) { r.slow["fork"] = time.Hour }, "fork: release_too_slow: the release held the requests of production for its limit of 4s: release again when", true},
		"limit":  {func(_ *daemon, r *releases) { r.slow["prepare"] = time.Hour }, "prepare: release_too_slow: ", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w, d, r := releaseWorld(t)
				tc.breaks(d, r)
				op := d.release(t, w, svc.ReleaseRequest{VersionID: "v2"})
				if op.Status != svc.PromotionFailed || !strings.HasPrefix(op.Error, tc.want) {
					t.Errorf("%s, %s", op.Status, op.Error)
				}
				if w.status(t, "v2") != svc.StatusFailed || r.called("undone v1") != tc.held || r.called("released v1") {
					t.Errorf("v2 is %s, calls %q", w.status(t, "v2"), r.log())
				}
				if held := slices.Equal(d.gateway.log(), []string{"hold", "release"}); held != tc.held || d.gateway.machines[len(d.gateway.machines)-1] != "share v1" {
					t.Errorf("%q, %q", d.gateway.log(), d.gateway.machines)
				}
				w.check(t, d.gateway, "v1")
			})
		})
	}
}

func failing(call string, err error) func(*daemon, *releases) {
	return func(_ *daemon, r *releases) { r.fail[call] = err }
}

// TestReleaseHoldLimit: requests wait for the limit of the hold and no longer, and production answers.
func TestReleaseHoldLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d, r := releaseWorld(t)
		r.slow["fork"] = time.Hour
		if _, err := d.Release(t.Context(), ref("check"), svc.ReleaseRequest{MaxHold: 3 * time.Second}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		began := time.Now()
		if got, took := d.gateway.request("shop"), time.Since(began); got != "v1" || took != 3*time.Second {
			t.Errorf("%s answers after %s", got, took)
		}
		<-d.done
		w.check(t, d.gateway, "v1")
	})
}

// TestReleaseLateRefused: a release that refuses late requests continues when the drain ends without
// them.
func TestReleaseLateRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d, _ := releaseWorld(t)
		d.gateway.inflight = make(chan struct{})
		if op := d.release(t, w, svc.ReleaseRequest{VersionID: "v2", LateRequests: svc.LateRefuse}); op.Status != svc.PromotionDone {
			t.Errorf("%s, %s", op.Status, op.Error)
		}
		w.check(t, d.gateway, "v2")
	})
}

// TestReleaseAsleep: production that falls asleep before its hold is started again.
func TestReleaseAsleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d, r := releaseWorld(t)
		r.asleep = 1
		if op := d.release(t, w, svc.ReleaseRequest{VersionID: "v2"}); op.Status != svc.PromotionDone {
			t.Errorf("%s, %s", op.Status, op.Error)
		}
		if got := r.log()[1:5]; !slices.Equal(got, []string{"awake v1", "ahead v1", "awake v1", "ahead v1"}) {
			t.Errorf("%q", got)
		}
		w.check(t, d.gateway, "v2")
	})
}

// TestReleaseRefused: what a release refuses before it creates anything.
func TestReleaseRefused(t *testing.T) {
	t.Parallel()
	other := "v9"
	for name, tc := range map[string]struct {
		req    svc.ReleaseRequest
		change func(*testing.T, *world)
		kind   svc.Kind
		code   string
	}{
		"a pull request": {svc.ReleaseRequest{GitRef: new("refs/pull/7/merge")}, nil, svc.Unprocessable, svc.CodeForkOfProduction},
		"slow migrations": {svc.ReleaseRequest{}, func(t *testing.T, w *world) {
			t.Helper()
			if err := w.SetMigrated(t.Context(), ref("check"), svc.Migrated{Names: []string{"DB/0001.sql"}, Took: time.Minute}); err != nil {
				t.Fatal(err)
			}
		}, svc.Unprocessable, svc.CodeReleaseTooSlow},
		"another production": {svc.ReleaseRequest{ExpectedProd: &other}, nil, svc.Precondition, svc.CodeProductionMoved},
		"a failed candidate": {svc.ReleaseRequest{}, func(t *testing.T, w *world) {
			t.Helper()
			registrytest.Move(t, w.DB, ref("check"), svc.TriggerDestroy)
		}, svc.Gone, svc.CodeVersionDestroyed},
		"an id that exists": {svc.ReleaseRequest{VersionID: "check"}, nil, svc.Conflict, svc.CodeVersionExists},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, d, r := releaseWorld(t)
			if tc.change != nil {
				tc.change(t, w)
			}
			_, err := d.Release(t.Context(), ref("check"), tc.req)
			registrytest.WantError(t, err, tc.kind, tc.code)
			ops, err := w.ListPromotions(t.Context(), "shop", svc.PageRequest{Limit: 9})
			if err != nil || len(ops.Items) > 0 || len(r.log()) > 0 {
				t.Errorf("%+v, %v, %q", ops, err, r.log())
			}
			w.check(t, d.gateway, "v1")
		})
	}
}

// TestReleaseAlone: while a release runs, another release and a promote are refused.
func TestReleaseAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d, r := releaseWorld(t)
		r.slow["begin"] = time.Second
		if _, err := d.Release(t.Context(), ref("check"), svc.ReleaseRequest{VersionID: "v2"}); err != nil {
			t.Fatal(err)
		}
		_, err := d.Release(t.Context(), ref("check"), svc.ReleaseRequest{VersionID: "v3"})
		registrytest.WantError(t, err, svc.Conflict, svc.CodePromoteInProgress)
		_, err = d.Promote(t.Context(), ref("check"), svc.PromoteRequest{})
		registrytest.WantError(t, err, svc.Conflict, svc.CodePromoteInProgress)
		<-d.done
		w.check(t, d.gateway, "v2")
	})
}

// TestReleaseResumed: the next start undoes a release that was not committed, and finishes one that was.
func TestReleaseResumed(t *testing.T) {
	t.Parallel()
	for name, committed := range map[string]bool{"before the commit": false, "after the commit": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, d, r := releaseWorld(t)
			d.stop(t)
			op := svc.Promotion{ID: "op-1", Project: "shop", Previous: "v1", Status: svc.PromotionRunning, CreatedAt: time.Now()}
			v, err := w.CreateRelease(t.Context(), svc.NewVersion{Project: "shop", ID: "v2", ParentID: "v1", ReleasedFrom: "check"}, svc.ForkPolicy{}, &op)
			if err != nil {
				t.Fatal(err)
			}
			steps := registrytest.ToReady()
			registrytest.Move(t, w.DB, v.Ref, steps[:len(steps)-1]...)
			status, production, version := svc.PromotionFailed, "v1", svc.StatusFailed
			if committed {
				status, production, version = svc.PromotionDone, "v2", svc.StatusReady
				if _, err := w.Move(t.Context(), v.Ref, svc.TriggerActivate, svc.Change{InsteadOf: "v1"}); err != nil {
					t.Fatal(err)
				}
			}
			next := w.start(t, r.use)
			if err := next.ResumeAll(t.Context()); err != nil {
				t.Fatal(err)
			}
			got, err := w.Promotion(t.Context(), "shop", op.ID)
			if err != nil || got.Status != status || !committed && !strings.HasPrefix(got.Error, "commit: release_interrupted: ") {
				t.Errorf("%+v, %v", got, err)
			}
			if w.status(t, "v2") != version {
				t.Errorf("v2 is %s", w.status(t, "v2"))
			}
			w.check(t, next.gateway, production)
		})
	}
}

// TestReleasePointer: a release whose pointer cannot be written serves, and is not done before it is
// written: the next start would not write it.
func TestReleasePointer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.addReady(t, "v1")
		w.addReady(t, "check")
		r := &releases{w: w, fail: map[string]error{}, slow: map[string]time.Duration{}}
		var down atomic.Bool
		d := w.start(t, func(deps *promote.Deps) {
			r.use(deps)
			deps.Bucket = &objstoretest.Hooked{Bucket: w.bucket, Around: func(_ context.Context, _ objstoretest.Op, _ string, do func() error) error {
				if down.Load() {
					return errors.New("no store")
				}
				return do()
			}}
		})
		if err := d.AssignFirst(t.Context(), ref("v1")); err != nil {
			t.Fatal(err)
		}
		down.Store(true)
		op, err := d.Release(t.Context(), ref("check"), svc.ReleaseRequest{VersionID: "v2"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(500 * time.Millisecond)
		if got, err := w.Promotion(t.Context(), "shop", op.ID); err != nil || got.Status != svc.PromotionRunning || d.gateway.request("shop") != "v2" {
			t.Errorf("%+v, %v, %s answers", got, err, d.gateway.request("shop"))
		}
		down.Store(false)
		<-d.done
		w.check(t, d.gateway, "v2")
	})
}
