package service_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/lib/service"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// TestStopWaits: Stop waits for work, whose context the caller does not cancel;
// no new work begins meanwhile.
func TestStopWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var w service.Work
		ctx, cancel := context.WithCancel(t.Context())
		own, end, err := w.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		time.AfterFunc(time.Minute, end)
		begin := time.Now()
		for range 2 {
			go func() {
				if err := w.Stop(t.Context()); err != nil || time.Since(begin) != time.Minute {
					t.Errorf("Stop: %v after %v", err, time.Since(begin))
				}
			}()
		}
		synctest.Wait()
		if own.Err() != nil {
			t.Errorf("the work's context has ended: %v", context.Cause(own))
		}
		if err := w.Go(t.Context(), func(context.Context) { t.Error("work began after Stop") }); !errors.Is(err, service.ErrStopped) {
			t.Errorf("Go: %v", err)
		}
		<-own.Done()
		synctest.Wait()
		if err := w.Stop(t.Context()); err != nil {
			t.Errorf("a second Stop: %v", err)
		}
	})
}

// TestStopCancels: when its context ends, Stop cancels the work and still waits for it.
func TestStopCancels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var w service.Work
		var cause error
		if err := w.Go(t.Context(), func(ctx context.Context) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			<-time.After(time.Second)
		}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		err := w.Stop(ctx)
		if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took != time.Minute+time.Second || !errors.Is(cause, service.ErrStopped) {
			t.Errorf("Stop: %v after %v; the work's cause is %v", err, took, cause)
		}
	})
}

func TestUntil(t *testing.T) {
	t.Parallel()
	var w service.Work
	waiting, cancel := w.Until(t.Context())
	defer cancel()
	over, leave := w.Until(t.Context())
	leave()
	if err := w.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	late, end := w.Until(t.Context())
	defer end()
	for name, tc := range map[string]struct {
		ctx  context.Context
		want error
	}{
		"before Stop": {waiting, service.ErrStopped}, "after Stop": {late, service.ErrStopped}, "canceled": {over, context.Canceled},
	} {
		if got := context.Cause(tc.ctx); !errors.Is(got, tc.want) {
			t.Errorf("%s: the cause is %v, want %v", name, got, tc.want)
		}
	}
}

func TestStack(t *testing.T) {
	t.Parallel()
	var s service.Stack
	var order []string
	errBusy := errors.New("busy")
	for _, name := range []string{"first", "second"} {
		s.Push(name, func(context.Context) error { order = append(order, name); return errBusy })
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.Go(ctx, "loop", func(ctx context.Context) {
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, service.ErrStopped) {
			t.Errorf("the loop's cause is %v", cause)
		}
		order = append(order, "loop")
	})
	cancel() // the context of the start, which is over
	err := s.Stop(t.Context())
	if want := "stop second: busy\nstop first: busy"; err == nil || err.Error() != want || !errors.Is(err, errBusy) {
		t.Errorf("Stop: %v, want %s", err, want)
	}
	if !slices.Equal(order, []string{"loop", "second", "first"}) {
		t.Errorf("order %v", order)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("a second Stop: %v", err)
	}
}
