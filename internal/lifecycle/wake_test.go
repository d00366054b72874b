package lifecycle_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Whoever sees that a version was woken may archive it, though the wake is not
// quite over.
func TestArchiveAsSoonAsWoken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", append(toReady[:5:5], svc.TriggerArchive)...)
	d := w.start(t)
	archived := make(chan error, 1)
	d.woke = func(r svc.Ref) {
		if got := d.status(r); got != svc.StatusReady {
			t.Errorf("requests go on while the gateway knows it as %s", got)
		}
		go func() { archived <- errOf(d.Archive(t.Context(), r)) }()
		time.Sleep(20 * time.Millisecond) // an archive that is refused is so by now
	}
	if _, err := d.Wake(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := <-archived; err != nil {
		t.Error(err)
	}
	d.expect(t, r, svc.StatusArchived, false, true)
}

// Whoever sees that a version is archived again, after a wake that failed, and
// wakes it, gets a wake of its own, though the data is still being sealed.
func TestWakeAsSoonAsFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", append(toReady[:5:5], svc.TriggerArchive)...)
	d := w.start(t)
	starts, again := 0, make(chan error, 1)
	sealing := func() {
		if got := d.version(t, r).Status; got != svc.StatusArchived {
			t.Errorf("it is %s", got)
		}
		go func() { again <- errOf(d.Wake(t.Context(), r)) }()
		time.Sleep(20 * time.Millisecond) // a wake that joins the other has by now
	}
	d.before = func(_ context.Context, call string, _ svc.Ref) error {
		switch {
		case call == "start" && starts == 0:
			starts++
			return errors.New("not today")
		case call == "seal":
			sealing()
		}
		return nil
	}
	wantError(t, errOf(d.Wake(t.Context(), r)), svc.Unavailable, "wake_failed")
	if err := <-again; err != nil {
		t.Error(err)
	}
	d.expect(t, r, svc.StatusReady, true, true)
}
