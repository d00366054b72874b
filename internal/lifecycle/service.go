package lifecycle

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// The limits of the verbs.
const (
	// DefaultWakeWait is how long a Wake waits for the runtime [D17].
	DefaultWakeWait = 30 * time.Second
	// DefaultWakeLimit is when a wake counts as failed.
	DefaultWakeLimit = 10 * time.Minute
	// DefaultDrainWait is how long requests in flight may take to finish before
	// an archived version's process is stopped.
	DefaultDrainWait = 30 * time.Second
	// DefaultPurgeLimit is how long the removal of a destroyed version may take
	// before it is left to Sweep: its caller waits for it.
	DefaultPurgeLimit = 30 * time.Second
	// DefaultSealLimit is when the sealing of an archived version is given up. It
	// ships, compacts and restores all data, and its proof begins anew when it is
	// repeated: the limit must be longer than gigabytes take.
	DefaultSealLimit = 30 * time.Minute
)

// The causes of the ends of what took too long: an object store that answers and
// takes no writes is asked again for as long as there is time.
var (
	errPurgeLimit = errors.New("the removal took too long")
	errSealLimit  = errors.New("the sealing took too long")
)

// Versions is the part of the registry that holds versions.
type Versions interface {
	Version(ctx context.Context, ref svc.Ref) (svc.Version, error)
	Move(ctx context.Context, ref svc.Ref, t svc.Trigger, c svc.Change) (svc.Version, error)
	SetPinned(ctx context.Context, ref svc.Ref, pinned bool) (svc.Version, error)
}

// Inventory is the part of the registry that finds what a crash left undone.
type Inventory interface {
	VersionsByStatus(ctx context.Context, statuses ...svc.Status) ([]svc.Version, error)
	Unpurged(ctx context.Context) ([]svc.Ref, error)
	MarkPurged(ctx context.Context, ref svc.Ref) error
}

// Runtimes starts and stops the processes of versions. Every method is
// idempotent.
type Runtimes interface {
	// Start fetches the bundle if need be, and returns when the worker serves.
	// Its errors are fit for users.
	Start(ctx context.Context, ref svc.Ref) error
	// Stop ends a deploy or a start under way, and the process.
	Stop(ctx context.Context, ref svc.Ref) error
	// Purge removes what a destroyed version has beside its data.
	Purge(ctx context.Context, ref svc.Ref) error
}

// Routes is what the gateway knows about versions.
type Routes interface {
	StatusChanged(ref svc.Ref, status svc.Status)
	// AlmostReady has requests to a version wait while it moves to ready.
	AlmostReady(ref svc.Ref) (over func())
	// Forget makes a version's hosts nobody's.
	Forget(ref svc.Ref)
	// DrainVersion waits until the requests are done that were in flight when
	// the version left the statuses that serve.
	DrainVersion(ctx context.Context, ref svc.Ref) error
}

// Vault keeps the data of versions that do not run; a runtime that starts brings
// what it needs by itself. Every method may be repeated, and is after a crash; no
// process has the data open meanwhile.
type Vault interface {
	// Seal makes the data safe without what is cached on this machine, and lets
	// the cache go. It is called for every archived version when the daemon
	// starts, so it must be cheap when there is nothing to do.
	Seal(ctx context.Context, ref svc.Ref) error
	// Unsealed tells whether this machine still has data that Seal would bring
	// away. It asks nobody else.
	Unsealed(ref svc.Ref) bool
	// Destroy removes the data that no child needs [D22].
	Destroy(ctx context.Context, ref svc.Ref) error
}

// Observer counts, for metrics. Its method returns at once.
type Observer interface {
	WakeDone(seconds float64) // a version serves again
}

// Deps is everything a Service works with.
type Deps struct {
	Versions  Versions
	Inventory Inventory
	Runtimes  Runtimes
	Routes    Routes
	Vault     Vault
	Logger    *slog.Logger
	Observer  Observer // nil: nobody counts

	WakeWait  time.Duration // 0: DefaultWakeWait
	WakeLimit time.Duration // 0: DefaultWakeLimit
	DrainWait time.Duration // 0: DefaultDrainWait

	PurgeLimit time.Duration // 0: DefaultPurgeLimit
	SealLimit  time.Duration // 0: DefaultSealLimit
}

// Service runs the verbs.
type Service struct {
	deps  Deps
	log   *slog.Logger
	locks *locks
	quit  chan struct{} // closed by Stop: who waits gives up
	kill  chan struct{} // closed when Stop has waited long enough
	verbs sync.WaitGroup

	mu      sync.Mutex
	stopped bool
	wakes   map[svc.Ref]*wake
	seals   map[svc.Ref]context.CancelFunc // under way, each in its version's turn
	unasked map[svc.Ref]context.CancelFunc // those of them that nobody waits for
}

// New checks deps. It starts nothing.
func New(deps Deps) (*Service, error) {
	switch {
	case deps.Versions == nil || deps.Inventory == nil:
		return nil, errors.New("lifecycle: no registry")
	case deps.Runtimes == nil || deps.Routes == nil || deps.Vault == nil || deps.Logger == nil:
		return nil, errors.New("lifecycle: runtimes, routes, vault and logger are needed")
	}
	deps.WakeWait = orDefault(deps.WakeWait, DefaultWakeWait)
	deps.WakeLimit = orDefault(deps.WakeLimit, DefaultWakeLimit)
	deps.DrainWait = orDefault(deps.DrainWait, DefaultDrainWait)
	deps.PurgeLimit = orDefault(deps.PurgeLimit, DefaultPurgeLimit)
	deps.SealLimit = orDefault(deps.SealLimit, DefaultSealLimit)
	if deps.Observer == nil {
		deps.Observer = noObserver{}
	}
	return &Service{
		deps: deps, log: deps.Logger, locks: newLocks(), wakes: map[svc.Ref]*wake{}, seals: map[svc.Ref]context.CancelFunc{}, unasked: map[svc.Ref]context.CancelFunc{},
		quit: make(chan struct{}), kill: make(chan struct{}),
	}, nil
}

func orDefault(d, or time.Duration) time.Duration {
	if d <= 0 {
		return or
	}
	return d
}

var errStopping = svc.Errorf(svc.Unavailable, "shutting_down", "the daemon is stopping").WithHint("try again in a moment")

// Stop accepts no more verbs and waits for those under way. When ctx ends first
// they are cut off, and the next start goes on with them. Calls after the first
// wait in the same way.
func (s *Service) Stop(ctx context.Context) error {
	s.mu.Lock()
	if !s.stopped {
		s.stopped = true
		close(s.quit)
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { s.verbs.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	select {
	case <-s.kill:
	default:
		close(s.kill)
	}
	s.mu.Unlock()
	<-done
	return context.Cause(ctx)
}

// begin takes the version's turn; it waits for it as long as ctx allows. The
// context that it gives goes on when the caller leaves, and ends when Stop has
// waited long enough. end gives the turn back.
func (s *Service) begin(ctx context.Context, ref svc.Ref) (own context.Context, end func(), err error) {
	if !s.enter() {
		return nil, nil, errStopping
	}
	unlock, err := s.locks.acquire(ctx, s.quit, ref)
	if err != nil {
		s.verbs.Done()
		return nil, nil, err
	}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	go func() {
		select {
		case <-s.kill:
			cancel(errStopping)
		case <-own.Done():
		}
	}()
	return own, func() { cancel(nil); unlock(); s.verbs.Done() }, nil
}

// enter counts a verb, unless the service stops.
func (s *Service) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopped {
		s.verbs.Add(1)
	}
	return !s.stopped
}

func (s *Service) logger(ref svc.Ref) *slog.Logger {
	return s.log.With("project", ref.Project, "version", ref.Version)
}

type noObserver struct{}

func (noObserver) WakeDone(float64) {}
