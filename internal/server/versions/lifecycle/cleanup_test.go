package lifecycle_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
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

// TestCleanupArchives: Cleanup archives data after an outage of the object store, and
// only once.
func TestCleanupArchives(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", registrytest.ToReady()...)
	w.add(t, "serves", registrytest.ToReady()...)
	d := w.start(t)
	d.before = func(_ context.Context, call string, _ svc.Ref) error {
		if call == "archive" {
			return errors.New("object store down")
		}
		return nil
	}
	registrytest.WantError(t, errOf(d.Archive(t.Context(), r)), svc.Unavailable, "archive_incomplete")
	for _, tries := range []int{2, 3, 3} {
		if err := d.Cleanup(t.Context()); err != nil {
			t.Error(err)
		}
		if got := d.count("archive v1"); got != tries {
			t.Errorf("%d attempts, want %d", got, tries)
		}
		d.before = nil
	}
	calls := d.log()
	if err := d.Cleanup(t.Context()); err != nil || !slices.Equal(calls, d.log()) {
		t.Errorf("a cleanup with nothing to do: %v, %v", d.log()[len(calls):], err)
	}
	d.expect(t, r, svc.StatusArchived, false, true)
	d.expect(t, ref("serves"), svc.StatusReady, true, true)
}

// TestCleanupDuringArchive: Cleanup neither repeats nor waits for a running archive.
func TestCleanupDuringArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", registrytest.ToReady()...)
	d := w.start(t)
	archiving, proceed := make(chan struct{}), make(chan struct{})
	d.before = func(_ context.Context, call string, _ svc.Ref) error {
		if call == "archive" {
			close(archiving)
			<-proceed
		}
		return nil
	}
	archived := make(chan error, 1)
	go func() { archived <- errOf(d.Archive(t.Context(), r)) }()
	<-archiving
	if err := d.Cleanup(t.Context()); err != nil {
		t.Error(err)
	}
	close(proceed)
	if err := <-archived; err != nil {
		t.Error(err)
	}
	if n := d.count("archive v1"); n != 1 {
		t.Errorf("it was archived %d times", n)
	}
}

// TestWakeEndsCleanup: a wake interrupts an archive in the background.
func TestWakeEndsCleanup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", append(registrytest.ToReady(), svc.TriggerArchive)...)
	d := w.start(t)
	archiving := make(chan struct{})
	d.before = func(ctx context.Context, call string, _ svc.Ref) error {
		if call == "archive" {
			close(archiving)
			<-ctx.Done() // the store does not answer
		}
		return context.Cause(ctx)
	}
	cleaned := make(chan error, 1)
	go func() { cleaned <- d.Cleanup(t.Context()) }()
	<-archiving
	if v, err := d.Wake(t.Context(), r); err != nil || v.Status != svc.StatusReady {
		t.Errorf("%+v, %v", v, err)
	}
	if err := <-cleaned; err != nil {
		t.Error(err)
	}
}

// TestConcurrentCleanups: concurrent cleanups archive once.
func TestConcurrentCleanups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, "v1", append(registrytest.ToReady(), svc.TriggerArchive)...)
	d := w.start(t)
	var cleanups sync.WaitGroup
	for range 8 {
		cleanups.Go(func() {
			if err := d.Cleanup(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	cleanups.Wait()
	if n := d.count("archive v1"); n != 1 {
		t.Errorf("it was archived %d times", n)
	}
}

// TestCleanupStops: Stop ends a cleanup; a version that is not archived by then is
// unchanged.
func TestCleanupStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	archived := append(registrytest.ToReady(), svc.TriggerArchive)
	first, second := w.add(t, "v1", archived...), w.add(t, "v2", archived...)
	d := w.start(t)
	archiving := make(chan struct{})
	d.before = func(ctx context.Context, call string, _ svc.Ref) error {
		if call == "archive" {
			close(archiving)
			<-ctx.Done()
		}
		return context.Cause(ctx)
	}
	cleaned := make(chan error, 1)
	go func() { cleaned <- d.Cleanup(t.Context()) }()
	<-archiving
	d.end(t)
	if err := <-cleaned; err != nil {
		t.Error(err)
	}
	if n := d.count("archive v1") + d.count("archive v2"); n != 1 {
		t.Errorf("%d archives started", n)
	}
	d.expect(t, first, svc.StatusArchived, false, true)
	d.expect(t, second, svc.StatusArchived, false, true)
}
