package sleep

import (
	"context"
	"net/http"

	"github.com/svcctl/svcctl/internal/svc"
)

// Hosts asks the runtimes that have processes: the supervisor.
type Hosts interface {
	// Runtimes describes each of them.
	Runtimes() []svc.Runtime
	Runtime(ref svc.Ref) (svc.Runtime, bool)
	// NextWake returns the work that a version has to do by itself.
	NextWake(ctx context.Context, ref svc.Ref) (svc.Wake, error)
	// Measured is Runtimes with the use of memory.
	Measured() []svc.Runtime
	// PageOut moves the memory of a runtime that serves to swap.
	PageOut(ctx context.Context, ref svc.Ref) (svc.PagedOut, error)
	Data(ref svc.Ref, r *http.Request) (*http.Response, error)
	Dispatch(ctx context.Context, ref svc.Ref, e svc.Event) (svc.EventResult, error)
}

// Runtime describes the runtime of a version, also of one that sleeps. False: it has none.
func (s *Service) Runtime(ref svc.Ref) (svc.Runtime, bool) {
	host, ok := s.cfg.Hosts.Runtime(ref) // first: what has stopped since then is known to sleep
	now, asleep := s.cfg.Runtimes.Asleep(ref)
	if asleep && (now.State == svc.RuntimeAsleep || !ok || host.State == svc.RuntimeAsleep) {
		return now, true // the host does not know when the version must start again
	}
	return host, ok
}

// NextWake returns the work that a version has to do by itself. For one that sleeps it is
// what its worker host reported last.
func (s *Service) NextWake(ctx context.Context, ref svc.Ref) (svc.Wake, error) {
	if now, asleep := s.cfg.Runtimes.Asleep(ref); asleep {
		return svc.Wake{At: now.WakeAt}, nil
	}
	return s.cfg.Hosts.NextWake(ctx, ref)
}

// Waiting counts the work that continues only while the version serves. It starts a
// version that sleeps. A version that cannot be asked has none.
func (s *Service) Waiting(ctx context.Context, ref svc.Ref) svc.Waiting {
	if err := s.Awake(ctx, ref); err != nil {
		return svc.Waiting{}
	}
	w, _ := s.cfg.Hosts.NextWake(ctx, ref) // zero with an error
	return w.Waiting
}

// Data sends a request to the worker host of a version, which it starts if it sleeps.
// Errors: those of Awake, and those of Hosts.
func (s *Service) Data(ref svc.Ref, r *http.Request) (*http.Response, error) {
	if err := s.Awake(r.Context(), ref); err != nil {
		return nil, err
	}
	return s.cfg.Hosts.Data(ref, r)
}

// Dispatch sends an event to the worker of a version, which it starts if it sleeps.
// Errors: those of Awake, and those of Hosts.
func (s *Service) Dispatch(ctx context.Context, ref svc.Ref, e svc.Event) (svc.EventResult, error) {
	if err := s.Awake(ctx, ref); err != nil {
		return svc.EventResult{}, err
	}
	return s.cfg.Hosts.Dispatch(ctx, ref, e)
}
