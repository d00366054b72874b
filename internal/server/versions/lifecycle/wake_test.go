package lifecycle_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestArchiveWhenWoken: a client that reads the status ready can archive the version,
// even before the wake has returned.
func TestArchiveWhenWoken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testArchiveWhenWoken)
}

func testArchiveWhenWoken(t *testing.T) {
	w := newWorld(t)
	r := w.add(t, "v1", append(registrytest.ToReady(), svc.TriggerArchive)...)
	d := w.start(t)
	archived := make(chan error, 1)
	d.woke = func(r svc.Ref) {
		if got := d.status(r); got != svc.StatusReady {
			t.Errorf("requests are released while the published status is %s", got)
		}
		go func() { archived <- errOf(d.Archive(t.Context(), r)) }()
		synctest.Wait() // a wrong rejection happens now
	}
	if _, err := d.Wake(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := <-archived; err != nil {
		t.Error(err)
	}
	d.expect(t, r, svc.StatusArchived, false, true)
}

// TestWakeWhenFailed: after a failed wake, a client that reads the status archived can
// start another wake, even while the data is still being archived.
func TestWakeWhenFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testWakeWhenFailed)
}

func testWakeWhenFailed(t *testing.T) {
	w := newWorld(t)
	r := w.add(t, "v1", append(registrytest.ToReady(), svc.TriggerArchive)...)
	d := w.start(t)
	starts, again := 0, make(chan error, 1)
	archiving := func() {
		if got := registrytest.Get(t, d.DB, r).Status; got != svc.StatusArchived {
			t.Errorf("it is %s", got)
		}
		go func() { again <- errOf(d.Wake(t.Context(), r)) }()
		synctest.Wait() // it would join the failed wake now
	}
	d.before = func(_ context.Context, call string, _ svc.Ref) error {
		switch {
		case call == "start" && starts == 0:
			starts++
			return errors.New("start failed")
		case call == "archive":
			archiving()
		}
		return nil
	}
	registrytest.WantError(t, errOf(d.Wake(t.Context(), r)), svc.Unavailable, "wake_failed")
	if err := <-again; err != nil {
		t.Error(err)
	}
	d.expect(t, r, svc.StatusReady, true, true)
}

// TestWakeOfAReadyVersion: the runtime of a ready version that crashed is started, and
// the caller learns why it does not start.
func TestWakeOfAReadyVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", registrytest.ToReady()...)
	d := w.start(t)
	if v, err := d.Wake(t.Context(), r); err != nil || v.Status != svc.StatusReady || !slices.Equal(d.log(), []string{"revive v1"}) {
		t.Errorf("%s %v, calls %v", v.Status, err, d.log())
	}
	d.before = func(ctx context.Context, call string, _ svc.Ref) error {
		if _, limited := ctx.Deadline(); !limited {
			t.Errorf("%s has no limit", call)
		}
		return svc.Errorf(svc.Conflict, svc.CodeVersionNotServing, "boom")
	}
	registrytest.WantError(t, errOf(d.Wake(t.Context(), r)), svc.Conflict, "version_not_serving")
	d.expect(t, r, svc.StatusReady, true, true)
}
