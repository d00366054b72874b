package deployqueuetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/server/versions/deployqueue"
	"github.com/svcctl/svcctl/internal/svc"
)

// Mem is a queue in memory. The zero value is empty and ready; it is safe for
// concurrent use.
type Mem struct {
	mu   sync.Mutex
	last int64
	jobs []*entry // by id
}

type entry struct {
	deployqueue.Job

	runAt, until time.Time
	owner        string
}

// Add queues the deploy of ref, due now.
func (m *Mem) Add(ref svc.Ref) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last++
	m.jobs = append(m.jobs, &entry{Job: deployqueue.Job{ID: m.last, Ref: ref}, runAt: time.Now()})
}

// Len returns the number of unfinished jobs.
func (m *Mem) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.jobs)
}

// ClaimJob implements deployqueue.Store.
func (m *Mem) ClaimJob(_ context.Context, owner string, lease time.Duration) (deployqueue.Job, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for _, e := range m.jobs {
		if e.runAt.After(now) || e.owner != "" && !e.until.Before(now) {
			continue
		}
		e.Attempt++
		e.owner, e.until = owner, now.Add(lease)
		return e.Job, true, nil
	}
	return deployqueue.Job{}, false, nil
}

// NextJob implements deployqueue.Store.
func (m *Mem) NextJob(context.Context) (next time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.jobs {
		at := e.runAt
		if e.owner != "" && e.until.After(at) {
			at = e.until
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next, nil
}

// ExtendJob implements deployqueue.Store.
func (m *Mem) ExtendJob(_ context.Context, id int64, owner string, lease time.Duration) error {
	return m.owned(id, owner, func(_ int, e *entry) { e.until = time.Now().Add(lease) })
}

// FinishJob implements deployqueue.Store.
func (m *Mem) FinishJob(_ context.Context, id int64, owner string) error {
	return m.owned(id, owner, func(i int, _ *entry) { m.jobs = slices.Delete(m.jobs, i, i+1) })
}

// RetryJob implements deployqueue.Store.
func (m *Mem) RetryJob(_ context.Context, id int64, owner string, at time.Time) error {
	return m.owned(id, owner, func(_ int, e *entry) { e.owner, e.runAt = "", at })
}

// SnoozeJob implements deployqueue.Store.
func (m *Mem) SnoozeJob(_ context.Context, id int64, owner string, at time.Time) error {
	return m.owned(id, owner, func(_ int, e *entry) { e.owner, e.runAt, e.Attempt = "", at, e.Attempt-1 })
}

// WakeJob implements deployqueue.Store.
func (m *Mem) WakeJob(_ context.Context, id int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.jobs {
		if e.ID == id && e.owner == "" {
			e.runAt = time.Now()
		}
	}
	return nil
}

// RescueJobs implements deployqueue.Store.
func (m *Mem) RescueJobs(context.Context) (n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for _, e := range m.jobs {
		if e.owner != "" || e.runAt.After(now) {
			n++
			e.owner, e.runAt = "", now
		}
	}
	return n, nil
}

func (m *Mem) owned(id int64, owner string, change func(int, *entry)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, e := range m.jobs {
		if e.ID == id && e.owner == owner {
			change(i, e)
			return nil
		}
	}
	return fmt.Errorf("job %d: %w", id, svc.Precondition)
}
