package sleep

import (
	"context"
	"log/slog"
	"runtime"
	"time"

	"github.com/svcctl/svcctl/internal/lib/keyed"
	"github.com/svcctl/svcctl/internal/lib/service"
	"github.com/svcctl/svcctl/internal/svc"
)

// Versions reads versions in the registry.
type Versions interface {
	Version(ctx context.Context, ref svc.Ref) (svc.Version, error)
}

// Runtimes stops and starts the runtimes of versions. Its methods are idempotent.
type Runtimes interface {
	// Sleep stops the runtime of a version that serves.
	Sleep(ctx context.Context, ref svc.Ref) error
	// Awake returns when the runtime of a version that sleeps, or is being started from
	// sleep, serves; immediately for other versions. The end of ctx ends the start.
	Awake(ctx context.Context, ref svc.Ref) error
	Asleep(ref svc.Ref) (svc.Runtime, bool)
	// Rousing reports whether the runtime of a version that slept is starting.
	Rousing(ref svc.Ref) bool
	AllAsleep() []svc.Runtime
}

// Gateway reports which versions are used.
type Gateway interface {
	// LastUse returns when a version was last asked through the gateway, now if it is
	// being asked or has an open websocket.
	LastUse(ref svc.Ref) time.Time
}

// Observer counts what a Service does. Its methods do not block.
type Observer interface {
	PagedOut(svc.PagedOut)
	Recycled()
}

// Config configures a Service. Only Production and the limits of what is not used may be zero.
type Config struct {
	After        time.Duration // without use, until a version sleeps
	Production   bool          // whether production sleeps, too
	PageOutAfter time.Duration // without use, until the memory of a version is moved to swap
	RecycleBytes int64         // of memory, above which an idle version gets new processes
	Versions     Versions
	Runtimes     Runtimes
	Hosts        Hosts
	Gateway      Gateway
	Logger       *slog.Logger
	Observer     Observer
}

// Service puts versions to sleep and wakes them.
type Service struct {
	cfg    Config
	work   service.Work
	starts keyed.Flight[svc.Ref]
	places chan struct{} // one element per start under way

	changed chan struct{} // holds a token when a version fell asleep

	pagedOut map[svc.Ref]time.Time // when; PageOutIdle has it alone
}

// New returns a Service. It starts nothing.
func New(c Config) *Service {
	return &Service{cfg: c, changed: make(chan struct{}, 1), places: make(chan struct{}, max(leastPlaces, 2*runtime.GOMAXPROCS(0)))}
}

// leastPlaces is the least number of versions that start at the same time. Twice the
// processors, if that is more: further starts would delay those under way, until all of
// their requests have waited too long.
const leastPlaces = 4

// Stop starts no more versions and waits for starts under way. When ctx ends, it cancels
// them.
func (s *Service) Stop(ctx context.Context) error { return s.work.Stop(ctx) }

// Rouse starts the runtime of a version that sleeps, in the background.
func (s *Service) Rouse(ctx context.Context, ref svc.Ref) {
	_ = s.work.Go(ctx, func(ctx context.Context) { // an error means that the daemon stops
		if err := s.Awake(ctx, ref); err != nil && ctx.Err() == nil {
			s.cfg.Logger.WarnContext(ctx, "starting a version that sleeps failed", "project", ref.Project, "version", ref.Version, "error", err)
		}
	})
}

// Awake returns when the runtime of a version that sleeps serves; immediately for other
// versions. The start does not end with its caller. Errors: Conflict,
// version_not_serving, for a worker that does not start; Unavailable, for example if the
// bundle cannot be fetched.
func (s *Service) Awake(ctx context.Context, ref svc.Ref) error {
	if _, asleep := s.cfg.Runtimes.Asleep(ref); !asleep && !s.cfg.Runtimes.Rousing(ref) {
		return nil
	}
	call := s.starts.Start(ctx, ref, func(ctx context.Context, _ func()) error {
		own, end, err := s.work.Begin(ctx)
		if err != nil {
			return err
		}
		defer end()
		select {
		case s.places <- struct{}{}:
			defer func() { <-s.places }()
		case <-own.Done():
			return context.Cause(own)
		}
		return s.cfg.Runtimes.Awake(own, ref)
	})
	select {
	case <-call.Done():
		return call.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
