package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/svcctl/svcctl/internal/lib/keyed"
	"github.com/svcctl/svcctl/internal/lib/service"
	"github.com/svcctl/svcctl/internal/svc"
)

// The limits of the verbs.
const (
	// DefaultWakeWait is how long a Wake waits for the runtime [D17].
	DefaultWakeWait = 30 * time.Second
	// DefaultWakeLimit is the time after which a wake fails.
	DefaultWakeLimit = 10 * time.Minute
	// DefaultDrainWait is the time for requests in flight to finish before the
	// process of an archived version is stopped.
	DefaultDrainWait = 30 * time.Second
	// DefaultEnvDrain is the time for requests in flight before a runtime is restarted
	// with new variables. New requests wait meanwhile, so it is short.
	DefaultEnvDrain = 2 * time.Second
	// DefaultPurgeLimit is the time for a purge, for which the caller waits; then it
	// is left to Cleanup.
	DefaultPurgeLimit = 30 * time.Second
	// DefaultArchiveLimit is the time to archive the data of a version: to ship,
	// compact and verify it. A retry verifies from the start, so the limit must
	// suffice for gigabytes.
	DefaultArchiveLimit = 30 * time.Minute
)

// The causes when a limit ends an operation, for example because the object store
// rejects all writes with retriable errors.
var (
	errPurgeLimit   = errors.New("the purge exceeded its time limit")
	errArchiveLimit = errors.New("the archive exceeded its time limit")
)

// Versions reads and changes versions in the registry.
type Versions interface {
	Version(ctx context.Context, ref svc.Ref) (svc.Version, error)
	Move(ctx context.Context, ref svc.Ref, t svc.Trigger, c svc.Change) (svc.Version, error)
	SetPinned(ctx context.Context, ref svc.Ref, pinned bool) (svc.Version, error)
	Environment(ctx context.Context, ref svc.Ref) (svc.Environment, error)
	SetEnv(ctx context.Context, ref svc.Ref, env map[string]string) (svc.Version, error)
	// Demoted returns when a promotion last replaced the version as production.
	Demoted(ctx context.Context, ref svc.Ref) (time.Time, error)
}

// Inventory finds versions with unfinished verbs in the registry.
type Inventory interface {
	VersionsByStatus(ctx context.Context, statuses ...svc.Status) ([]svc.Version, error)
	Unpurged(ctx context.Context) ([]svc.Ref, error)
	MarkPurged(ctx context.Context, ref svc.Ref) error
}

// Runtimes starts and stops the runtimes of versions. Its methods are idempotent.
type Runtimes interface {
	// Start fetches the bundle if necessary, and returns when the worker serves. Its
	// errors are written for users.
	Start(ctx context.Context, ref svc.Ref) error
	// Revive returns nil when a ready version serves, and starts its runtime if it does
	// not. The error is Conflict, version_not_serving, if that fails or ctx ends first.
	Revive(ctx context.Context, ref svc.Ref) error
	// Restart stops the runtime of a version that serves and starts it with other
	// overrides; if that fails, with the recorded ones. Its errors are written for users.
	Restart(ctx context.Context, ref svc.Ref, env map[string]string) error
	// RestartWithSecrets is Restart with other secrets in place of those of the registry.
	RestartWithSecrets(ctx context.Context, ref svc.Ref, secrets map[string]string) error
	// SecretsDiffer reports whether the process of a version began with other secrets than it would
	// begin with now. It waits for a deploy or a start of the version.
	SecretsDiffer(ctx context.Context, ref svc.Ref) (bool, error)
	// Stop ends a running deploy or start, and the process.
	Stop(ctx context.Context, ref svc.Ref) error
	// DropBundle deletes the unpacked bundle of a version that is stopped; Start
	// fetches it again.
	DropBundle(ctx context.Context, ref svc.Ref) error
	// Purge deletes the files of a destroyed version other than its data.
	Purge(ctx context.Context, ref svc.Ref) error
}

// Routes publishes versions to the gateway.
type Routes interface {
	StatusChanged(ref svc.Ref, status svc.Status)
	// HoldUntilReady makes requests to a version wait while it moves to ready.
	HoldUntilReady(ref svc.Ref) (release func())
	// HoldForRestart makes requests to a version that serves wait while its runtime is
	// restarted.
	HoldForRestart(ref svc.Ref) (release func())
	// RemoveRoutes removes the routes of a version.
	RemoveRoutes(ref svc.Ref)
	// DrainVersion waits for the requests that were in flight when the version left
	// the statuses that serve, or was held for a restart.
	DrainVersion(ctx context.Context, ref svc.Ref) error
}

// Data archives and destroys the data of versions that do not run. Its methods are
// idempotent. The caller ensures that no process has the data open.
type Data interface {
	// Archive ships the cached data and drops the cache. It is called for every
	// archived version when the daemon starts, so it must be cheap if the cache is
	// empty.
	Archive(ctx context.Context, ref svc.Ref) error
	// Cached reports whether the local cache has data of the version. It reads only
	// the local disk.
	Cached(ref svc.Ref) bool
	// Destroy deletes the data, except what children need [D22].
	Destroy(ctx context.Context, ref svc.Ref) error
}

// Previews moves the host names of preview names.
type Previews interface {
	// Publish routes a name to its newest version that has been ready, or removes the
	// route. Idempotent.
	Publish(ctx context.Context, project, name string) error
}

// Usage reports what versions do.
type Usage interface {
	// LastUse returns when a version was last asked through the gateway, now if it is
	// being asked or has an open websocket; zero if not since the start of the daemon.
	LastUse(ref svc.Ref) time.Time
	// NextWake returns the work that a version has to do by itself. The error is
	// Unavailable if its runtime does not serve.
	NextWake(ctx context.Context, ref svc.Ref) (svc.Wake, error)
	// Waiting counts the work that continues only while the version serves. It starts a
	// version that sleeps. A version that cannot be asked has none.
	Waiting(ctx context.Context, ref svc.Ref) svc.Waiting
}

// Idle says when the idle ticker archives a version [D24].
type Idle struct {
	After time.Duration // without use; 0 turns idle archiving off
	Grace time.Duration // after the promote that replaced it as production
}

// Observer counts, for metrics. Its method does not block.
type Observer interface {
	WakeDone(took time.Duration) // a version serves again
}

// Deps are the dependencies and settings of a Service.
type Deps struct {
	Versions  Versions
	Inventory Inventory
	Runtimes  Runtimes
	Routes    Routes
	Data      Data
	Previews  Previews // nil: the host names of preview names are not routed
	Logger    *slog.Logger
	Observer  Observer // nil: no counting
	Usage     Usage
	Idle      Idle

	WakeWait  time.Duration // 0: DefaultWakeWait
	WakeLimit time.Duration // 0: DefaultWakeLimit
	DrainWait time.Duration // 0: DefaultDrainWait
	EnvDrain  time.Duration // 0: DefaultEnvDrain

	PurgeLimit   time.Duration // 0: DefaultPurgeLimit
	ArchiveLimit time.Duration // 0: DefaultArchiveLimit
}

// Service runs the verbs of versions.
type Service struct {
	deps  Deps
	log   *slog.Logger
	work  service.Work
	locks keyed.Mutex[svc.Ref] // held by the running verb of a version
	wakes keyed.Flight[svc.Ref]

	// Held, inside locks, while a version's data is archived, so that this can be
	// interrupted: archiving always, background if no caller waits.
	archiving, background keyed.Mutex[svc.Ref]
}

// New returns a Service, or an error if a dependency is missing. It starts nothing.
func New(deps Deps) (*Service, error) {
	switch {
	case deps.Versions == nil || deps.Inventory == nil:
		return nil, errors.New("lifecycle: registry required")
	case deps.Runtimes == nil || deps.Routes == nil || deps.Data == nil || deps.Usage == nil || deps.Logger == nil:
		return nil, errors.New("lifecycle: runtimes, routes, data, usage and logger required")
	}
	deps.WakeWait = cmp.Or(deps.WakeWait, DefaultWakeWait)
	deps.WakeLimit = cmp.Or(deps.WakeLimit, DefaultWakeLimit)
	deps.DrainWait = cmp.Or(deps.DrainWait, DefaultDrainWait)
	deps.EnvDrain = cmp.Or(deps.EnvDrain, DefaultEnvDrain)
	deps.PurgeLimit = cmp.Or(deps.PurgeLimit, DefaultPurgeLimit)
	deps.ArchiveLimit = cmp.Or(deps.ArchiveLimit, DefaultArchiveLimit)
	if deps.Observer == nil {
		deps.Observer = noObserver{}
	}
	return &Service{deps: deps, log: deps.Logger}, nil
}

var errStopping = svc.Errorf(svc.Unavailable, svc.CodeShuttingDown, "the daemon is shutting down").WithHint("try again in a moment")

// Stop accepts no more verbs and waits for running ones. When ctx ends, it cancels
// them, and the next start completes them. Later calls wait in the same way.
func (s *Service) Stop(ctx context.Context) error { return s.work.Stop(ctx) }

// begin takes the version's lock and waits for it until ctx ends. own, the context
// of the verb, does not end with ctx; Stop cancels it. end releases the lock.
func (s *Service) begin(ctx context.Context, ref svc.Ref) (own context.Context, end func(), err error) {
	own, done, err := s.work.Begin(ctx)
	if err != nil {
		return nil, nil, errStopping
	}
	waiting, cancel := s.work.Until(ctx)
	defer cancel()
	_, unlock, err := s.locks.Lock(waiting, ref)
	if err != nil {
		done()
		return nil, nil, stopping(err)
	}
	return own, func() { unlock(); done() }, nil
}

// stopping returns errStopping if Stop ended the verb, else err.
func stopping(err error) error {
	if errors.Is(err, service.ErrStopped) {
		return errStopping
	}
	return err
}

func (s *Service) logger(ref svc.Ref) *slog.Logger {
	return s.log.With("project", ref.Project, "version", ref.Version)
}

type noObserver struct{}

func (noObserver) WakeDone(time.Duration) {}
