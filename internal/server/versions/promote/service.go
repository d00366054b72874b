package promote

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/lib/keyed"
	"github.com/svcctl/svcctl/internal/lib/saga"
	"github.com/svcctl/svcctl/internal/lib/service"
	"github.com/svcctl/svcctl/internal/svc"
)

// The limits of a cut-over.
const (
	// DefaultStepLimit bounds each step and its compensation.
	DefaultStepLimit = 10 * time.Second
	// DefaultPointerLimit is how long writing the pointer object is tried again while the object store
	// does not answer. With the last attempt it is less than DefaultStepLimit.
	DefaultPointerLimit = 5 * time.Second
	// DefaultHoldLimit is the longest time that requests wait for the cut-over. It
	// must be less than the gateway's limit.
	DefaultHoldLimit = 4 * time.Second
	// DefaultDrainWait is how long the old version stays draining for requests in
	// flight, which are not cut off after it [D20].
	DefaultDrainWait = 2 * time.Second
	// DefaultWebsocketGrace is the time until websockets of the old version are
	// closed [D20].
	DefaultWebsocketGrace = 30 * time.Second
	// DefaultCountLimit bounds the count of what the old version has that the new one
	// lacks. It follows the cut-over, so that no request waits for it.
	DefaultCountLimit = 2 * time.Second
)

// Projects reads and changes productions in the registry.
type Projects interface {
	Project(ctx context.Context, id string) (svc.Project, error)
	// SetProduction is a compare-and-set; its error is Precondition if production is
	// neither expected nor next.
	SetProduction(ctx context.Context, project, expected, next string) error
	ChangeProject(ctx context.Context, id string, c svc.ProjectChange) (svc.Project, error)
}

// Versions reads and changes versions in the registry.
type Versions interface {
	Version(ctx context.Context, ref svc.Ref) (svc.Version, error)
	Move(ctx context.Context, ref svc.Ref, t svc.Trigger, c svc.Change) (svc.Version, error)
	VersionsByStatus(ctx context.Context, statuses ...svc.Status) ([]svc.Version, error)
}

// Promotions reads and writes promotions in the registry.
type Promotions interface {
	// CreatePromotion returns Conflict if another promotion of the project runs.
	CreatePromotion(ctx context.Context, p svc.Promotion) error
	Promotion(ctx context.Context, project, id string) (svc.Promotion, error)
	RunningPromotions(ctx context.Context) ([]svc.Promotion, error)
	FinishPromotion(ctx context.Context, id string, o svc.PromotionOutcome) error
	// PinRollback moves the automatic pins of a project to its newest previous
	// productions. Idempotent.
	PinRollback(ctx context.Context, op svc.Promotion, keep int) error
}

// Journals returns the saga's journal of a promotion.
type Journals interface {
	Journal(opID string) saga.Journal
}

// Gateway routes the production host names of projects.
type Gateway interface {
	SetProduction(project, version string)
	Hold(project string)
	Release(project string)
	// Unshare has machines admit no requests for the production host themselves until Share.
	// SettleProduction waits until they do so no more.
	Unshare(project string)
	Share(project string)
	SettleProduction(ctx context.Context, project string) error
	// DrainProduction waits for the requests that were in flight at the last Hold.
	DrainProduction(ctx context.Context, project string) error
	// CutOver returns the times of the last change of a production host name.
	CutOver(project string) svc.CutOver
}

// Websockets closes websockets, which a drain does not wait for.
type Websockets interface {
	CloseWebsockets(ref svc.Ref, role svc.Role, after time.Duration)
}

// Routes receives the status transitions of a promotion.
type Routes interface {
	StatusChanged(ref svc.Ref, status svc.Status)
}

// Runtimes starts the runtimes of ready versions.
type Runtimes interface {
	// Revive returns nil when a ready version serves, and starts its runtime if it does
	// not. The error is Conflict, version_not_serving, if that fails or ctx ends first.
	Revive(ctx context.Context, ref svc.Ref) error
}

// Leftovers counts what production leaves behind: divergence.
type Leftovers interface {
	// Left counts what production has that target lacks, within the time of ctx.
	Left(ctx context.Context, production, target svc.Ref) svc.Left
}

// Observer counts, for metrics. Its methods do not block.
type Observer interface {
	PromoteDone(result string, took time.Duration) // "done", "failed" or "unchanged"
	CutOverDone(c svc.CutOver)                     // of a promotion that is done
	// ReleaseDone counts a release, "done" or "failed", its hold and the writes that it refused.
	ReleaseDone(result string, held time.Duration, lateWrites int)
}

// Deps are the dependencies and settings of a Service.
type Deps struct {
	Projects   Projects
	Versions   Versions
	Promotions Promotions
	Journals   Journals
	Gateway    Gateway
	Websockets Websockets
	Routes     Routes
	Runtimes   Runtimes
	Bucket     objstore.Bucket // SVC_RUNTIME_BUCKET: holds {project}/production.json
	Logger     *slog.Logger
	Observer   Observer  // nil: no counting
	Leftovers  Leftovers // nil: not recorded
	// Guards reports whether the bundle of a version asks for the guard of its project. nil: none does.
	Guards func(ctx context.Context, ref svc.Ref) (bool, error)

	Releases Releases
	Sealer   Sealer
	Deploys  Deploys
	Forks    svc.ForkPolicy // tells the git refs of pull requests, whose code is not released
	// Survives returns when the changes of the registry survive the loss of this machine; a release
	// calls it again after an error. nil where no other machine takes over.
	Survives func(ctx context.Context) error

	// RefreshSecrets restarts a version whose process has other secrets than its part in production
	// gives it. nil: versions have no secrets.
	RefreshSecrets func(ctx context.Context, ref svc.Ref) error

	// Watched receives each release that is done or was undone: watch.Service.Watch. It does not
	// block. nil: nothing is watched.
	Watched func(ctx context.Context, op svc.Promotion)

	RollbackKeep int // SVC_ROLLBACK_KEEP: how many previous productions have a pin

	StepLimit      time.Duration // 0: DefaultStepLimit
	PointerLimit   time.Duration // 0: DefaultPointerLimit
	HoldLimit      time.Duration // 0: DefaultHoldLimit
	DrainWait      time.Duration // 0: DefaultDrainWait
	WebsocketGrace time.Duration // 0: DefaultWebsocketGrace
	CountLimit     time.Duration // 0: DefaultCountLimit
	ReleaseHold    time.Duration // 0: DefaultHoldLimit
	ReleaseDrain   time.Duration // 0: DefaultDrainWait
}

// Service promotes versions.
type Service struct {
	deps Deps
	log  *slog.Logger
	saga saga.Saga[*run]
	work service.Work

	// A promotion holds the lock of its project until it ends; an assignment of the
	// first version waits for it.
	locks keyed.Mutex[string]

	mu      sync.Mutex
	running map[string]*reservation // by project; running promotions
}

// New returns a Service, or an error if a dependency is missing. It starts nothing.
func New(deps Deps) (*Service, error) {
	switch {
	case deps.Projects == nil || deps.Versions == nil || deps.Promotions == nil || deps.Journals == nil:
		return nil, errors.New("promote: registry required")
	case deps.Gateway == nil || deps.Websockets == nil || deps.Routes == nil || deps.Runtimes == nil:
		return nil, errors.New("promote: gateway, websockets, routes and runtimes required")
	case deps.Bucket == nil || deps.Logger == nil:
		return nil, errors.New("promote: bucket and logger required")
	}
	deps.StepLimit = cmp.Or(deps.StepLimit, DefaultStepLimit)
	deps.PointerLimit = cmp.Or(deps.PointerLimit, DefaultPointerLimit)
	deps.HoldLimit = cmp.Or(deps.HoldLimit, DefaultHoldLimit)
	deps.DrainWait = cmp.Or(deps.DrainWait, DefaultDrainWait)
	deps.WebsocketGrace = cmp.Or(deps.WebsocketGrace, DefaultWebsocketGrace)
	deps.CountLimit = cmp.Or(deps.CountLimit, DefaultCountLimit)
	deps.ReleaseHold = cmp.Or(deps.ReleaseHold, DefaultHoldLimit)
	deps.ReleaseDrain = cmp.Or(deps.ReleaseDrain, DefaultDrainWait)
	deps.Forks.Production = svc.ProdForkReject
	if deps.Observer == nil {
		deps.Observer = noObserver{}
	}
	return &Service{
		deps: deps, log: deps.Logger, saga: newSaga(deps.StepLimit), running: map[string]*reservation{},
	}, nil
}

// Stop accepts no more promotions and waits for running ones. When ctx ends, it
// cancels them, which makes them compensate; the next start resumes those that
// cannot [D21]. Later calls wait in the same way.
func (s *Service) Stop(ctx context.Context) error { return s.work.Stop(ctx) }

type noObserver struct{}

func (noObserver) PromoteDone(string, time.Duration) {}

func (noObserver) CutOverDone(svc.CutOver) {}

func (noObserver) ReleaseDone(string, time.Duration, int) {}
