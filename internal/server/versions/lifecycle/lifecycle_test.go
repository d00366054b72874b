package lifecycle_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/lifecycle"
	"github.com/svcctl/svcctl/internal/svc"
)

// spec: [C7.9] [C9.1] [C9.7]
func TestArchiveAndWake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", registrytest.ToReady()...)
	d := w.start(t)
	work := svc.Waiting{Messages: 2, Instances: 1}
	d.work[r] = svc.Wake{Waiting: work}
	for range 2 { // the second changes nothing
		v, err := d.Archive(t.Context(), r)
		if err != nil || v.Status != svc.StatusArchived || v.Waiting != work {
			t.Fatalf("%s with %+v, %v", v.Status, v.Waiting, err)
		}
		work = svc.Waiting{}
		d.expect(t, r, svc.StatusArchived, false, true)
	}
	if got := d.status(r); got != svc.StatusArchived {
		t.Errorf("the published status is %q", got)
	}
	before := registrytest.Get(t, d.DB, r)
	for range 2 {
		v, err := d.Wake(t.Context(), r)
		if err != nil || v.Status != svc.StatusReady || v.WokenAt.IsZero() || !v.ReadyAt.Equal(before.ReadyAt) {
			t.Fatalf("%s, ready at %v, woken at %v, %v", v.Status, v.ReadyAt, v.WokenAt, err)
		}
		d.expect(t, r, svc.StatusReady, true, true)
	}
	want := []string{"drain v1", "stop v1", "archive v1", "drain v1", "stop v1", "archive v1", "start v1", "revive v1"}
	if diff := cmp.Diff(want, d.log()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(d.dropped) != 2 {
		t.Errorf("unpacked bundles were deleted %d times", len(d.dropped))
	}
	if d.status(r) != svc.StatusReady || d.woken != 1 {
		t.Errorf("the published status is %q, %d wakes were counted", d.status(r), d.woken)
	}
}

// TestVerbErrors calls every verb on every status that does not allow it.
func TestVerbErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, "prod", registrytest.ToReady()...)
	if err := w.SetProduction(t.Context(), "shop", "", "prod"); err != nil {
		t.Fatal(err)
	}
	w.add(t, "pending")
	w.add(t, "deploying", registrytest.ToReady()[:4]...)
	w.add(t, "failed", svc.TriggerFetch, svc.TriggerFail)
	w.add(t, "draining", append(registrytest.ToReady(), svc.TriggerDrain)...)
	w.add(t, "destroyed", svc.TriggerDestroy)
	d := w.start(t)
	archive := func(r svc.Ref) error { _, err := d.Archive(t.Context(), r); return err }
	wake := func(r svc.Ref) error { _, err := d.Wake(t.Context(), r); return err }
	destroy := func(r svc.Ref) error { _, err := d.Destroy(t.Context(), r); return err }
	pin := func(r svc.Ref) error { _, err := d.SetPinned(t.Context(), r, true); return err }
	for _, tc := range []struct {
		verb    func(svc.Ref) error
		version string
		kind    svc.Kind
		code    string
	}{
		{archive, "prod", svc.Conflict, "version_is_production"},
		{archive, "pending", svc.Conflict, "version_not_ready"},
		{archive, "deploying", svc.Conflict, "version_not_ready"},
		{archive, "failed", svc.Conflict, "version_not_ready"},
		{archive, "draining", svc.Conflict, "promote_in_progress"},
		{archive, "destroyed", svc.Gone, "version_destroyed"},
		{archive, "none", svc.NotFound, "version_not_found"},
		{wake, "pending", svc.Conflict, "version_not_ready"},
		{wake, "deploying", svc.Conflict, "version_not_ready"},
		{wake, "failed", svc.Conflict, "version_not_ready"},
		{wake, "destroyed", svc.Gone, "version_destroyed"},
		{wake, "none", svc.NotFound, "version_not_found"},
		{destroy, "prod", svc.Conflict, "version_is_production"},
		{destroy, "draining", svc.Conflict, "promote_in_progress"},
		{destroy, "none", svc.NotFound, "version_not_found"},
		{pin, "destroyed", svc.Gone, "version_destroyed"},
		{pin, "none", svc.NotFound, "version_not_found"},
	} {
		before, _ := w.Version(t.Context(), ref(tc.version))
		err := tc.verb(ref(tc.version))
		registrytest.WantError(t, err, tc.kind, tc.code)
		var e *svc.Error
		if tc.kind == svc.Conflict && (!errors.As(err, &e) || e.Hint == "") {
			t.Errorf("%s: no hint in %v", tc.version, err)
		}
		if after, _ := w.Version(t.Context(), ref(tc.version)); cmp.Diff(before, after) != "" {
			t.Errorf("%s: a rejected verb changed the record", tc.version)
		}
	}
	if calls := d.log(); len(calls) > 0 {
		t.Errorf("rejected verbs made the calls %v", calls)
	}
	for _, version := range []string{"prod", "draining"} { // these serve: nothing to wake
		if v, err := d.Wake(t.Context(), ref(version)); err != nil || !v.Status.Serves() {
			t.Errorf("waking %s: %s, %v", version, v.Status, err)
		}
	}
}

func TestWakeFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", append(registrytest.ToReady(), svc.TriggerArchive)...)
	d := w.start(t)
	for name, cause := range map[string]error{
		"said":   svc.Errorf(svc.Unprocessable, "startup_failed", "it throws"),
		"secret": errors.New("secret cause"),
	} {
		d.before = func(_ context.Context, call string, _ svc.Ref) error {
			if call == "start" {
				return cause
			}
			return nil
		}
		_, err := d.Wake(t.Context(), r)
		registrytest.WantError(t, err, svc.Unavailable, "wake_failed")
		e := svc.AsError(err)
		if known := svc.AsError(cause); !strings.Contains(e.Detail, known.Code) || !strings.Contains(e.Detail, known.Detail) || strings.Contains(e.Detail, "secret") {
			t.Errorf("%s: %q", name, e.Detail)
		}
		d.expect(t, r, svc.StatusArchived, false, true)
		v := registrytest.Get(t, d.DB, r)
		if last := v.Timeline[len(v.Timeline)-1]; last.Status != svc.StepFailed || v.Error != "" || !v.WokenAt.IsZero() {
			t.Errorf("%s: %+v", name, v)
		}
		if d.status(r) != svc.StatusArchived {
			t.Errorf("the published status is %q", d.status(r))
		}
	}
	d.before = nil
	if _, err := d.Wake(t.Context(), r); err != nil {
		t.Error(err)
	}
}

// TestSlowWake: the call returns, the wake continues, later calls join it [D17].
func TestSlowWake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", append(registrytest.ToReady(), svc.TriggerArchive)...)
	d := w.start(t, func(deps *lifecycle.Deps) { deps.WakeWait = time.Millisecond })
	serve := make(chan struct{})
	d.before = func(_ context.Context, call string, _ svc.Ref) error {
		if call == "start" {
			<-serve
		}
		return nil
	}
	var calls sync.WaitGroup
	for range 5 {
		calls.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			v, err := d.Wake(ctx, r)
			cancel() // does not end the wake
			if err != nil || v.Status.Serves() {
				t.Errorf("%s, %v", v.Status, err)
			}
		})
	}
	calls.Wait()
	registrytest.WantError(t, errOf(d.Archive(t.Context(), r)), svc.Conflict, "version_not_ready")
	close(serve)
	for !registrytest.Get(t, d.DB, r).Status.Serves() {
		if _, err := d.Wake(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	d.expect(t, r, svc.StatusReady, true, true)
	got := slices.DeleteFunc(d.log(), func(call string) bool { return call == "revive v1" }) // of calls after the wake
	if len(got) != 1 {                                                                       // one start
		t.Errorf("%v", got)
	}
}

func errOf(_ svc.Version, err error) error { return err }

// spec: [C7.11] [C9.10] [C9.11]
func TestDestroy(t *testing.T) {
	t.Parallel()
	for name, triggers := range map[string][]svc.Trigger{
		"ready":    registrytest.ToReady(),
		"archived": append(registrytest.ToReady(), svc.TriggerArchive),
		"failed":   {svc.TriggerFail},
		"pending":  {},
		"prepared": registrytest.ToReady()[:3],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			r := w.add(t, "v1", triggers...)
			d := w.start(t)
			for range 2 {
				v, err := d.Destroy(t.Context(), r)
				if err != nil || v.Status != svc.StatusDestroyed || len(v.Env) != 0 {
					t.Fatalf("%+v, %v", v, err)
				}
				d.expect(t, r, svc.StatusDestroyed, false, false)
			}
			if left, err := w.Unpurged(t.Context()); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
			want := []string{"stop v1", "unroute v1", "destroy v1", "purge v1"}
			if diff := cmp.Diff(append(want, want...), d.log()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for _, verb := range []func(context.Context, svc.Ref) (svc.Version, error){d.Archive, d.Wake} {
				registrytest.WantError(t, errOf(verb(t.Context(), r)), svc.Gone, "version_destroyed")
			}
		})
	}
}

// TestDestroyEndsWake: a destroy interrupts a running wake, whose caller gets an error.
func TestDestroyEndsWake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", append(registrytest.ToReady(), svc.TriggerArchive)...)
	d := w.start(t)
	starting := make(chan struct{})
	d.before = func(ctx context.Context, call string, _ svc.Ref) error {
		if call == "start" {
			close(starting)
			<-ctx.Done()
		}
		return nil
	}
	woken := make(chan error, 1)
	go func() { woken <- errOf(d.Wake(t.Context(), r)) }()
	<-starting
	if v, err := d.Destroy(t.Context(), r); err != nil || v.Status != svc.StatusDestroyed {
		t.Errorf("%s, %v", v.Status, err)
	}
	registrytest.WantError(t, <-woken, svc.Gone, "version_destroyed")
	d.expect(t, r, svc.StatusDestroyed, false, false)
}

// TestDestroyEndsArchive: a destroy interrupts a running archive.
func TestDestroyEndsArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", registrytest.ToReady()...)
	d := w.start(t)
	archiving := make(chan struct{})
	d.before = func(ctx context.Context, call string, _ svc.Ref) error {
		if call == "archive" {
			close(archiving)
			<-ctx.Done()
		}
		return ctx.Err()
	}
	archived := make(chan error, 1)
	go func() { archived <- errOf(d.Archive(t.Context(), r)) }()
	<-archiving
	if v, err := d.Destroy(t.Context(), r); err != nil || v.Status != svc.StatusDestroyed {
		t.Errorf("%s, %v", v.Status, err)
	}
	registrytest.WantError(t, <-archived, svc.Unavailable, "archive_incomplete")
	d.expect(t, r, svc.StatusDestroyed, false, false)
}

// TestLeftovers: after a failure of the object store, a repeat or the next start
// completes a verb.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kept, gone := w.add(t, "kept", registrytest.ToReady()...), w.add(t, "gone", registrytest.ToReady()...)
	d := w.start(t)
	away := errors.New("object store down")
	d.before = func(_ context.Context, call string, _ svc.Ref) error {
		if call == "archive" || call == "purge" {
			return away
		}
		return nil
	}
	_, err := d.Archive(t.Context(), kept)
	registrytest.WantError(t, err, svc.Unavailable, "archive_incomplete")
	d.expect(t, kept, svc.StatusArchived, false, true)
	if v, err := d.Destroy(t.Context(), gone); err != nil || v.Status != svc.StatusDestroyed {
		t.Errorf("%s, %v", v.Status, err)
	}
	if left, err := w.Unpurged(t.Context()); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
	d.before = nil
	if _, err := d.Archive(t.Context(), kept); err != nil {
		t.Error(err)
	}
	d.end(t)
	_, err = d.Archive(t.Context(), kept)
	registrytest.WantError(t, err, svc.Unavailable, "shutting_down")
	w.nextStartFinishes(t)
}

// nextStartFinishes checks that the next start archives version kept and purges gone.
func (w *world) nextStartFinishes(t *testing.T) {
	t.Helper()
	next := w.start(t)
	if err := next.Resume(t.Context()); err != nil {
		t.Error(err)
	}
	want := []string{"archive kept", "stop gone", "unroute gone", "destroy gone", "purge gone"}
	if diff := cmp.Diff(want, next.log()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if left, err := w.Unpurged(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestLimits: verbs end at their limit if the object store does not answer, and the
// next start completes them.
func TestLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kept, gone := w.add(t, "kept", registrytest.ToReady()...), w.add(t, "gone", registrytest.ToReady()...)
	full := w.start(t, func(deps *lifecycle.Deps) {
		deps.PurgeLimit, deps.ArchiveLimit = 50*time.Millisecond, 50*time.Millisecond
	})
	full.before = func(ctx context.Context, call string, _ svc.Ref) error {
		if call == "archive" || call == "destroy" {
			<-ctx.Done()
		}
		return context.Cause(ctx)
	}
	if v, err := full.Destroy(t.Context(), gone); err != nil || v.Status != svc.StatusDestroyed {
		t.Errorf("%s, %v", v.Status, err)
	}
	_, err := full.Archive(t.Context(), kept)
	registrytest.WantError(t, err, svc.Unavailable, "archive_incomplete")
	if err := full.Resume(t.Context()); err != nil { // a start ends at the limit too
		t.Error(err)
	}
	full.expect(t, gone, svc.StatusDestroyed, false, true)
	full.expect(t, kept, svc.StatusArchived, false, true)
	full.end(t)
	w.nextStartFinishes(t)
}

// TestWakeOverRestart: the next start resumes a wake that Stop interrupted, but not a
// deploy.
func TestWakeOverRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", append(registrytest.ToReady(), svc.TriggerArchive)...)
	deploying := w.add(t, "v2", registrytest.ToReady()[:4]...)
	d := w.start(t)
	starting := make(chan struct{})
	d.before = func(ctx context.Context, call string, _ svc.Ref) error {
		if call == "start" {
			close(starting)
			<-ctx.Done()
		}
		return nil
	}
	woken := make(chan svc.Version, 1)
	go func() {
		v, err := d.Wake(t.Context(), r)
		if err != nil && !errors.Is(err, svc.Unavailable) {
			t.Error(err)
		}
		woken <- v
	}()
	<-starting
	d.end(t)
	<-woken
	if v := registrytest.Get(t, d.DB, r); v.Status != svc.StatusDeploying {
		t.Fatalf("after the stop it is %s", v.Status)
	}
	next := w.start(t)
	if err := next.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v, err := next.Wake(t.Context(), r); err != nil || v.Status != svc.StatusReady {
		t.Errorf("%s, %v", v.Status, err)
	}
	next.expect(t, r, svc.StatusReady, true, true)
	next.expect(t, deploying, svc.StatusDeploying, false, true)
}

// TestConcurrentVerbs: many callers archive and wake one version, which is never
// archived while it has a process.
func TestConcurrentVerbs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", registrytest.ToReady()...)
	d := w.start(t)
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			verbs := []func(context.Context, svc.Ref) (svc.Version, error){d.Archive, d.Wake}
			for n := range 10 {
				_, err := verbs[(i+n)%2](t.Context(), r)
				if err != nil && !errors.Is(err, svc.Conflict) {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	if _, err := d.Archive(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	d.expect(t, r, svc.StatusArchived, false, true)
}

func TestNewChecks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, deps := range map[string]lifecycle.Deps{
		"nothing": {}, "the registry alone": {Versions: w, Inventory: w},
	} {
		if _, err := lifecycle.New(deps); err == nil {
			t.Errorf("New accepts %s", name)
		}
	}
}
