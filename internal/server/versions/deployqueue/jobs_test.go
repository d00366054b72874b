package deployqueue_test

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/versions/deployqueue"
	"github.com/svcctl/svcctl/internal/server/versions/deployqueue/deployqueuetest"
)

func TestBackoff(t *testing.T) {
	t.Parallel()
	for attempt, want := range map[int]time.Duration{
		-1: time.Second, 0: time.Second, 1: time.Second, 2: 4 * time.Second, 3: 16 * time.Second,
		4: time.Minute, 5: time.Minute, 1 << 40: time.Minute,
	} {
		if got := deployqueue.Backoff(attempt); got != want {
			t.Errorf("Backoff(%d) = %v, want %v", attempt, got, want)
		}
	}
}

func TestMemStore(t *testing.T) {
	t.Parallel()
	deployqueuetest.Store(t, func(_ *testing.T, n int) deployqueue.Store { return queue(n) })
}

// queue returns a store with n jobs.
func queue(n int) *deployqueuetest.Mem {
	var m deployqueuetest.Mem
	for i := 1; i <= n; i++ {
		m.Add(deployqueuetest.Ref(i))
	}
	return &m
}
