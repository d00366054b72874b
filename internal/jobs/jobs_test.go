package jobs_test

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/jobs"
	"github.com/svcctl/svcctl/internal/jobs/jobstest"
)

func TestBackoff(t *testing.T) {
	t.Parallel()
	for attempt, want := range map[int]time.Duration{
		-1: time.Second, 0: time.Second, 1: time.Second, 2: 4 * time.Second, 3: 16 * time.Second,
		4: time.Minute, 5: time.Minute, 1 << 40: time.Minute,
	} {
		if got := jobs.Backoff(attempt); got != want {
			t.Errorf("Backoff(%d) = %v, want %v", attempt, got, want)
		}
	}
}

func TestMemStore(t *testing.T) {
	t.Parallel()
	jobstest.Store(t, func(_ *testing.T, n int) jobs.Store { return queue(n) })
}

// queue is a store with n jobs.
func queue(n int) *jobstest.Mem {
	var m jobstest.Mem
	for i := 1; i <= n; i++ {
		m.Add(jobstest.Ref(i))
	}
	return &m
}
