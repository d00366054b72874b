package backoff_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/lib/backoff"
)

func TestSleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		errOver := errors.New("over")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errOver)
		defer cancel()
		began := time.Now()
		for _, step := range []struct {
			d, at time.Duration
			want  error
		}{
			{time.Second, time.Second, nil},
			{0, time.Second, nil},
			{-1, time.Second, nil},
			{time.Hour, time.Minute, errOver},
			{time.Second, time.Minute, errOver},
			{0, time.Minute, errOver},
		} {
			if err := backoff.Sleep(ctx, step.d); !errors.Is(err, step.want) || time.Since(began) != step.at {
				t.Errorf("Sleep(%v) = %v at %v, want %v at %v", step.d, err, time.Since(began), step.want, step.at)
			}
		}
	})
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	b := backoff.Backoff{First: 100 * ms, Max: 300 * ms}
	for i, want := range []time.Duration{100 * ms, 200 * ms, 300 * ms, 300 * ms} {
		if got := b.Next(); got != want {
			t.Errorf("wait %d is %v, want %v", i, got, want)
		}
	}
	b.Reset()
	if got := b.Next(); got != 100*ms {
		t.Errorf("after Reset: %v", got)
	}
	b = backoff.Backoff{First: 100 * ms, Max: 200 * ms, Jitter: 0.5}
	seen := map[time.Duration]bool{}
	for range 100 {
		b.Reset()
		d := b.Next()
		if d <= 50*ms || d > 100*ms {
			t.Errorf("a wait of 100ms with half of it random is %v", d)
		}
		seen[d] = true
	}
	if len(seen) < 50 || b.Next() > 200*ms {
		t.Errorf("%d different waits of 100", len(seen))
	}
}

// TestBackoffSleep: Sleep waits for Next, and ends with its context.
func TestBackoffSleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		began, b := time.Now(), backoff.Backoff{First: time.Second, Max: time.Minute}
		for _, at := range []time.Duration{time.Second, 3 * time.Second} {
			if err := b.Sleep(ctx); err != nil || time.Since(began) != at {
				t.Errorf("%v after %v, want %v", err, time.Since(began), at)
			}
		}
		if err := b.Sleep(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 4*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
