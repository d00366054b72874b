package deploy

import (
	"testing"
	"time"
)

// TestPollDelay: a single deploy checks for its bundle often, thousands together at most 200
// times per second.
func TestPollDelay(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		waited  time.Duration
		waiters int
		most    time.Duration
	}{{0, 1, 25 * time.Millisecond}, {time.Minute, 1, 1100 * time.Millisecond}, {time.Minute, 10_000, 52 * time.Second}} {
		got := pollDelay(tc.waited, tc.waiters)
		if got > tc.most {
			t.Errorf("after %s with %d: %s, want at most %s", tc.waited, tc.waiters, got, tc.most)
		}
		if perSecond := float64(tc.waiters) / got.Seconds(); tc.waiters > 100 && perSecond > 200 {
			t.Errorf("%d deploys check %.0f times per second", tc.waiters, perSecond)
		}
	}
}
