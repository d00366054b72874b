package keyed_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/lib/keyed"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

var errCause = errors.New("the cause")

func lock(t *testing.T, m *keyed.Mutex[string], key string) (held context.Context, unlock func()) {
	t.Helper()
	held, unlock, err := m.Lock(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return held, unlock
}

// TestMutexExcludes runs under the race detector: one counter per key, without
// any other lock.
func TestMutexExcludes(t *testing.T) {
	t.Parallel()
	const keys, callers = 3, 50
	var m keyed.Mutex[int]
	var counts [keys]int
	var all sync.WaitGroup
	for i := range keys * callers {
		all.Go(func() {
			_, unlock, err := m.Lock(t.Context(), i%keys)
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			counts[i%keys]++
		})
	}
	all.Wait()
	for key, n := range counts {
		if n != callers || m.Busy(key) {
			t.Errorf("key %d: counted %d, busy %v", key, n, m.Busy(key))
		}
	}
}

func TestMutexOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var m keyed.Mutex[string]
		_, unlock := lock(t, &m, "a")
		_, other := lock(t, &m, "b") // another key does not wait
		other()
		var order []int
		for i := range 5 {
			go func() {
				_, unlock := lock(t, &m, "a")
				order = append(order, i)
				unlock()
			}()
			synctest.Wait()
		}
		if !m.Busy("a") || m.Busy("b") {
			t.Errorf("busy: a %v, b %v", m.Busy("a"), m.Busy("b"))
		}
		unlock()
		synctest.Wait()
		if !slices.Equal(order, []int{0, 1, 2, 3, 4}) || m.Busy("a") {
			t.Errorf("order %v, busy %v", order, m.Busy("a"))
		}
	})
}

func TestMutexContext(t *testing.T) {
	t.Parallel()
	var m keyed.Mutex[string]
	held, unlock := lock(t, &m, "a")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCause)
	if _, _, err := m.Lock(ctx, "a"); !errors.Is(err, errCause) {
		t.Errorf("Lock of a held key: %v", err)
	}
	if err := held.Err(); err != nil {
		t.Errorf("the holder's context has ended: %v", err)
	}
	unlock()
	if held.Err() == nil || m.Busy("a") {
		t.Errorf("after unlock: context %v, busy %v", held.Err(), m.Busy("a"))
	}
}

// TestMutexInterrupt: the holder's context ends with the cause, and Interrupt
// returns after its unlock; the next holder is not interrupted.
func TestMutexInterrupt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var m keyed.Mutex[string]
		if err := m.Interrupt(t.Context(), "a", errCause); err != nil {
			t.Errorf("without a holder: %v", err)
		}
		held, unlock := lock(t, &m, "a")
		var next error
		go func() {
			held, unlock := lock(t, &m, "a")
			defer unlock()
			next = held.Err()
		}()
		synctest.Wait()
		go func() {
			<-held.Done()
			<-time.After(time.Minute) // it cleans up
			unlock()
		}()
		begin := time.Now()
		if err := m.Interrupt(t.Context(), "a", errCause); err != nil || time.Since(begin) != time.Minute {
			t.Errorf("Interrupt: %v after %v", err, time.Since(begin))
		}
		synctest.Wait()
		if cause := context.Cause(held); !errors.Is(cause, errCause) || next != nil {
			t.Errorf("the holder's cause is %v, the next one's error %v", cause, next)
		}
	})
}

func TestMutexInterruptCanceled(t *testing.T) {
	t.Parallel()
	var m keyed.Mutex[string]
	held, unlock := lock(t, &m, "a")
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Interrupt(ctx, "a", errCause); !errors.Is(err, context.Canceled) || !errors.Is(context.Cause(held), errCause) {
		t.Errorf("Interrupt: %v; the holder: %v", err, context.Cause(held))
	}
}

func TestFlightShares(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f keyed.Flight[string]
		runs, release := 0, make(chan struct{})
		fn := func(ctx context.Context, _ func()) error { runs++; <-release; return errors.Join(errCause, ctx.Err()) }
		ctx, cancel := context.WithCancel(t.Context())
		first := f.Start(ctx, "a", fn)
		cancel() // its caller leaves
		synctest.Wait()
		if again := f.Start(t.Context(), "a", fn); again != first || !f.Active("a") || f.Active("b") {
			t.Errorf("joined %v, active: a %v, b %v", again == first, f.Active("a"), f.Active("b"))
		}
		close(release)
		<-first.Done()
		if err := first.Err(); runs != 1 || !errors.Is(err, errCause) || errors.Is(err, context.Canceled) {
			t.Errorf("%d runs, the result is %v", runs, err)
		}
		synctest.Wait()
		next := f.Start(t.Context(), "a", fn)
		<-next.Done()
		if next == first || runs != 2 || f.Active("a") {
			t.Errorf("joined a call that had ended; %d runs", runs)
		}
	})
}

// TestFlightForget: a caller after forget starts a new call, which the end of
// the first call does not affect.
func TestFlightForget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f keyed.Flight[string]
		release := make(chan struct{})
		first := f.Start(t.Context(), "a", func(_ context.Context, forget func()) error { forget(); <-release; return nil })
		synctest.Wait()
		if f.Active("a") {
			t.Error("a forgotten call is active")
		}
		second := f.Start(t.Context(), "a", func(ctx context.Context, _ func()) error { <-ctx.Done(); return context.Cause(ctx) })
		close(release)
		<-first.Done()
		if second == first || !f.Active("a") {
			t.Errorf("joined %v, active %v", second == first, f.Active("a"))
		}
		if err := f.Cancel(t.Context(), "a", errCause); err != nil || !errors.Is(second.Err(), errCause) {
			t.Errorf("Cancel: %v; the call: %v", err, second.Err())
		}
	})
}

func TestFlightCancelCanceled(t *testing.T) {
	t.Parallel()
	var f keyed.Flight[string]
	if err := f.Cancel(t.Context(), "a", errCause); err != nil {
		t.Errorf("without a call: %v", err)
	}
	release := make(chan struct{})
	call := f.Start(t.Context(), "a", func(context.Context, func()) error { <-release; return nil })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Cancel(ctx, "a", errCause); !errors.Is(err, context.Canceled) {
		t.Errorf("Cancel: %v", err)
	}
	close(release)
	<-call.Done()
}
