package sleep

import (
	"context"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// lead is the time before a version's own work at which its start begins: a cron
	// trigger that is due while the worker starts would be missed.
	lead = 2 * time.Second
	// leadEach is the additional lead for each version that must run at about the same
	// time.
	leadEach = 40 * time.Millisecond
)

// Start starts versions that sleep when their own work is due, until Stop. Those whose
// work was due while the daemon was down start immediately.
func (s *Service) Start(ctx context.Context) error {
	return s.work.Go(ctx, func(ctx context.Context) {
		waiting, cancel := s.work.Until(ctx)
		defer cancel()
		for waiting.Err() == nil {
			s.wait(waiting, s.startDue(ctx, waiting))
		}
	})
}

// look makes Start look for the next work again.
func (s *Service) look() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// wait waits until a time, zero for ever, or until a version falls asleep.
func (s *Service) wait(ctx context.Context, until time.Time) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	due := timer.C
	if until.IsZero() {
		due = nil
	}
	select {
	case <-due:
	case <-s.changed:
	case <-ctx.Done():
	}
}

// startDue starts the versions whose work is due, and returns when the next one is to
// start; zero for never.
func (s *Service) startDue(ctx, waiting context.Context) time.Time {
	due, next := plan(s.cfg.Runtimes.AllAsleep(), time.Now())
	var starts sync.WaitGroup
	for _, r := range due {
		if waiting.Err() == nil {
			starts.Go(func() { s.start(ctx, r) })
		}
	}
	starts.Wait()
	if len(due) > 0 {
		due, next = plan(s.cfg.Runtimes.AllAsleep(), time.Now())
	}
	if again := time.Now().Add(lead); len(due) > 0 && (next.IsZero() || again.Before(next)) {
		return again // their start failed, or they fell asleep meanwhile
	}
	return next
}

func (s *Service) start(ctx context.Context, r svc.Runtime) {
	log := s.cfg.Logger.With("project", r.Ref.Project, "version", r.Ref.Version)
	if err := s.Awake(ctx, r.Ref); err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "starting a version for its own work failed", "due", r.WakeAt, "error", err)
	}
}

// plan returns the versions that must start now for their work, and when the next one
// must; zero for never. The more versions are due together, the earlier they start.
func plan(asleep []svc.Runtime, now time.Time) (due []svc.Runtime, next time.Time) {
	first := time.Time{}
	for _, r := range asleep {
		if !r.WakeAt.IsZero() && (first.IsZero() || r.WakeAt.Before(first)) {
			first = r.WakeAt
		}
	}
	if first.IsZero() {
		return nil, first
	}
	crowd := time.Duration(0)
	for _, r := range asleep {
		if !r.WakeAt.IsZero() && r.WakeAt.Sub(first) < lead {
			crowd += leadEach
		}
	}
	for _, r := range asleep {
		at := r.WakeAt.Add(-lead - crowd)
		switch {
		case r.WakeAt.IsZero():
		case !at.After(now):
			due = append(due, r)
		case next.IsZero() || at.Before(next):
			next = at
		}
	}
	return due, next
}
