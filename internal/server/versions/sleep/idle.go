package sleep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// leastSleep is the shortest sleep that is worth a start. With a shorter After it is After.
const leastSleep = time.Minute

// SleepIdle stops the runtimes of versions that are idle: not asked for After, without
// work of their own under way or due soon, and with everything in the object store. It
// returns the errors of all versions that it could not stop.
func (s *Service) SleepIdle(ctx context.Context) error {
	var errs []error
	for _, r := range s.cfg.Hosts.Runtimes() {
		if ctx.Err() != nil {
			break
		}
		if r.State != svc.RuntimeServing || r.Behind > 0 || r.DataError != "" || s.isUsed(r, s.cfg.After) {
			continue
		}
		if err := s.sleepIdle(ctx, r); err != nil {
			errs = append(errs, fmt.Errorf("stopping the idle version %s: %w", r.Ref, err))
		}
	}
	return errors.Join(errs...)
}

// isUsed reports whether a runtime was started, asked or at work within a time, as far as it
// is known without asking the worker host.
func (s *Service) isUsed(r svc.Runtime, within time.Duration) bool {
	return time.Since(s.lastUse(r)) < within
}

func (s *Service) lastUse(r svc.Runtime) time.Time {
	return slices.MaxFunc([]time.Time{r.Endpoint.StartedAt, r.WorkedAt, s.cfg.Gateway.LastUse(r.Ref)}, time.Time.Compare)
}

// sleepIdle stops a runtime that was not asked, if its version has nothing to do.
func (s *Service) sleepIdle(ctx context.Context, r svc.Runtime) error {
	v, err := s.cfg.Versions.Version(ctx, r.Ref)
	if err != nil || v.Status != svc.StatusReady || v.Production && !s.cfg.Production {
		return err
	}
	if free, err := s.isFree(ctx, r, s.cfg.After, min(s.cfg.After, leastSleep)); err != nil || !free {
		return err
	}
	err = s.cfg.Runtimes.Sleep(ctx, r.Ref)
	if errors.Is(err, svc.Unavailable) {
		return nil // it crashed
	}
	s.look()
	return err
}

// isFree asks the worker host whether its version was not at work within a time, has nothing to
// do, and nothing that is due before it could sleep for a while. A runtime that does not serve
// any more is not free.
func (s *Service) isFree(ctx context.Context, r svc.Runtime, within, sleep time.Duration) (bool, error) {
	wake, err := s.cfg.Hosts.NextWake(ctx, r.Ref)
	if errors.Is(err, svc.Unavailable) || errors.Is(err, svc.Conflict) {
		return false, nil
	}
	r.WorkedAt = wake.Worked
	busy := wake.Pending > 0 || !wake.At.IsZero() && time.Until(wake.At) < lead+sleep || s.isUsed(r, within)
	return err == nil && !busy, err
}
