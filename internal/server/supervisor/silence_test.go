package supervisor

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestSilenceLimit: the reason of a kill names the limit that was reached.
func TestSilenceLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := silence{since: time.Now()}
		time.Sleep(time.Minute)
		if got := s.limit(10*time.Second, 2*time.Minute); got != 10*time.Second {
			t.Errorf("a loop: %s", got)
		}
		time.Sleep(time.Minute)
		if got := s.limit(10*time.Second, 2*time.Minute); got != 2*time.Minute {
			t.Errorf("work on the disk: %s", got)
		}
	})
}
