package supervisor

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Sleep stops a runtime that serves because nothing asks for it; its last state is
// asleep. It returns when the version must run next for its own work. The caller has
// drained its requests and opens it again when it is needed. Error: Unavailable,
// runtime_unavailable, for a runtime that does not serve.
func (s *Supervisor) Sleep(ctx context.Context, ref svc.Ref) (wake svc.Wake, err error) {
	return s.sleepWithin(ctx, ref, s.cfg.Grace)
}

// Retire is Sleep that ends what still runs.
func (s *Supervisor) Retire(ctx context.Context, ref svc.Ref) error {
	_, err := s.sleepWithin(ctx, ref, 0)
	return err
}

func (s *Supervisor) sleepWithin(ctx context.Context, ref svc.Ref, grace time.Duration) (wake svc.Wake, err error) {
	u, err := s.unit(ref, false)
	if err != nil {
		return wake, err
	}
	err = u.exclusively(ctx, func(ctx context.Context) error {
		wake, err = u.sleep(ctx, grace)
		return err
	})
	if err != nil {
		return wake, notOpen(ref, err)
	}
	s.drop(u)
	return wake, nil
}

// sleep is Supervisor.Sleep.
func (u *unit) sleep(ctx context.Context, grace time.Duration) (svc.Wake, error) {
	if now := u.describe(); now.State != svc.RuntimeServing || !u.proc.alive() {
		return svc.Wake{}, unavailable(now)
	}
	u.stopped = true
	u.watchdog.stop()
	wake := u.proc.stop(ctx, grace)
	u.set(svc.RuntimeAsleep, svc.Endpoint{}, nil)
	return wake, nil
}
