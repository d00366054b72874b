package deploy

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Retire ends the process of a version with whose data another one continues. The version sleeps
// then: the next request to its own host name starts a process that began nothing for production,
// and may write. It returns busy, true, without a change, while requests are in flight, unless now
// is set.
func (s *Service) Retire(ctx context.Context, ref svc.Ref, now bool) (busy bool, err error) {
	own, end, err := s.locks.Lock(ctx, ref)
	if err != nil {
		return false, err
	}
	defer end()
	v, err := s.deps.Versions.Version(own, ref)
	if err != nil || !v.Status.Serves() {
		return false, err
	}
	s.routes.fallAsleep(ref)
	if !now && s.drainRetired(own, ref) != nil {
		s.routes.awake(ref)
		return true, nil
	}
	at := time.Now()
	if err := s.deps.Runtimes.Retire(own, ref); err != nil {
		s.routes.awake(ref)
		return false, err
	}
	err = s.deps.Versions.SetAsleep(own, ref, at, time.Time{})
	s.routes.sleeps(ref, at, time.Time{})
	if errors.Is(err, svc.Conflict) { // archived meanwhile
		return false, nil
	}
	return false, err
}

func (s *Service) drainRetired(ctx context.Context, ref svc.Ref) error {
	ctx, cancel := context.WithTimeout(ctx, sleepDrain)
	defer cancel()
	return s.deps.Gateway.DrainVersion(ctx, ref)
}

// Reopen starts the runtime of a version that serves again, while requests wait, if its alarms of
// Durable Objects were set aside when another version continued with them: workerd arms alarms
// when it starts. It does nothing for other versions.
func (s *Service) Reopen(ctx context.Context, ref svc.Ref) error {
	m, err := s.Manifest(ctx, ref)
	if err != nil || len(m.ObjectClasses) == 0 {
		return err
	}
	own, end, err := s.locks.Lock(ctx, ref)
	if err != nil {
		return err
	}
	defer end()
	v, err := s.serving(own, ref)
	if err != nil {
		return err
	}
	defer s.HoldForRestart(ref)()
	return s.startAgain(own, &run{Service: s, v: v, log: s.log})
}
