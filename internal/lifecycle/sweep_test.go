package lifecycle_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

func (d *daemon) count(call string) (n int) {
	for _, c := range d.log() {
		if c == call {
			n++
		}
	}
	return n
}

// What could not be sealed is, once the store is back, without a start; and what
// is sealed is left alone.
func TestSweepSeals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", toReady...)
	w.add(t, "serves", toReady...)
	d := w.start(t)
	d.before = func(_ context.Context, call string, _ svc.Ref) error {
		if call == "seal" {
			return errors.New("the store is away")
		}
		return nil
	}
	wantError(t, errOf(d.Archive(t.Context(), r)), svc.Unavailable, "archive_incomplete")
	for _, tries := range []int{2, 3, 3} {
		if err := d.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		if got := d.count("seal v1"); got != tries {
			t.Errorf("it was tried %d times, want %d", got, tries)
		}
		d.before = nil
	}
	calls := d.log()
	if err := d.Sweep(t.Context()); err != nil || !slices.Equal(calls, d.log()) {
		t.Errorf("with nothing to do: %v, %v", d.log()[len(calls):], err)
	}
	d.expect(t, r, svc.StatusArchived, false, true)
	d.expect(t, ref("serves"), svc.StatusReady, true, true)
}

// A version is sealed once at a time, and a sweep waits for nobody who does it.
func TestSweepDuringSeal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", toReady...)
	d := w.start(t)
	sealing, goOn := make(chan struct{}), make(chan struct{})
	d.before = func(_ context.Context, call string, _ svc.Ref) error {
		if call == "seal" {
			close(sealing)
			<-goOn
		}
		return nil
	}
	archived := make(chan error, 1)
	go func() { archived <- errOf(d.Archive(t.Context(), r)) }()
	<-sealing
	if err := d.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	close(goOn)
	if err := <-archived; err != nil {
		t.Error(err)
	}
	if n := d.count("seal v1"); n != 1 {
		t.Errorf("it was sealed %d times", n)
	}
}

// A wake does not wait for a sealing that nobody asked for.
func TestWakeEndsASweepsSeal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", append(toReady[:5:5], svc.TriggerArchive)...)
	d := w.start(t)
	sealing := make(chan struct{})
	d.before = func(ctx context.Context, call string, _ svc.Ref) error {
		if call == "seal" {
			close(sealing)
			<-ctx.Done() // the store does not answer
		}
		return context.Cause(ctx)
	}
	swept := make(chan error, 1)
	go func() { swept <- d.Sweep(t.Context()) }()
	<-sealing
	if v, err := d.Wake(t.Context(), r); err != nil || v.Status != svc.StatusReady {
		t.Errorf("%+v, %v", v, err)
	}
	if err := <-swept; err != nil {
		t.Error(err)
	}
}

// Many sweeps at once are as one.
func TestSweepsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, "v1", append(toReady[:5:5], svc.TriggerArchive)...)
	d := w.start(t)
	var sweeps sync.WaitGroup
	for range 8 {
		sweeps.Go(func() {
			if err := d.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	sweeps.Wait()
	if n := d.count("seal v1"); n != 1 {
		t.Errorf("it was sealed %d times", n)
	}
}

// The end of the service is the end of a sweep, and a version that is not sealed
// by then is as it was.
func TestSweepStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	archived := append(toReady[:5:5], svc.TriggerArchive)
	first, second := w.add(t, "v1", archived...), w.add(t, "v2", archived...)
	d := w.start(t)
	sealing := make(chan struct{})
	d.before = func(ctx context.Context, call string, _ svc.Ref) error {
		if call == "seal" {
			close(sealing)
			<-ctx.Done()
		}
		return context.Cause(ctx)
	}
	swept := make(chan error, 1)
	go func() { swept <- d.Sweep(t.Context()) }()
	<-sealing
	d.end(t)
	if err := <-swept; err != nil {
		t.Error(err)
	}
	if n := d.count("seal v1") + d.count("seal v2"); n != 1 {
		t.Errorf("%d sealings began", n)
	}
	d.expect(t, first, svc.StatusArchived, false, true)
	d.expect(t, second, svc.StatusArchived, false, true)
}
