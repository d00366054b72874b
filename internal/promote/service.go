package promote

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/saga"
	"github.com/svcctl/svcctl/internal/svc"
)

// The limits of a cut-over.
const (
	// DefaultStepLimit bounds each step, and its undoing.
	DefaultStepLimit = 10 * time.Second
	// DefaultHoldLimit is how long requests wait for the cut-over at most; it
	// must be less than what the gateway allows them.
	DefaultHoldLimit = 4 * time.Second
	// DefaultDrainWait is how long the old version stays draining for requests
	// that were in flight; they go on after it [D20].
	DefaultDrainWait = 2 * time.Second
	// DefaultWebsocketGrace is when websockets of the old version are closed [D20].
	DefaultWebsocketGrace = 30 * time.Second
)

// Projects is the part of the registry that knows productions.
type Projects interface {
	Project(ctx context.Context, id string) (svc.Project, error)
	// SetProduction is the compare-and-set; lost: Precondition. Setting what is
	// there already is no error.
	SetProduction(ctx context.Context, project, expected, next string) error
}

// Versions is the part of the registry that holds versions.
type Versions interface {
	Version(ctx context.Context, ref svc.Ref) (svc.Version, error)
	Move(ctx context.Context, ref svc.Ref, t svc.Trigger, c svc.Change) (svc.Version, error)
	VersionsByStatus(ctx context.Context, statuses ...svc.Status) ([]svc.Version, error)
}

// Promotions is where the runs of the saga are kept.
type Promotions interface {
	// CreatePromotion fails with Conflict while another one of the project runs.
	CreatePromotion(ctx context.Context, p svc.Promotion) error
	Promotion(ctx context.Context, project, id string) (svc.Promotion, error)
	RunningPromotions(ctx context.Context) ([]svc.Promotion, error)
	FinishPromotion(ctx context.Context, id string, status svc.PromotionStatus, errText string) error
}

// Journals gives the saga's journal of a promotion.
type Journals interface {
	Journal(opID string) saga.Journal
}

// Gateway is the production host of a project.
type Gateway interface {
	SetProduction(project, version string)
	Hold(project string)
	Release(project string)
	// DrainProduction waits until the requests that were in flight at the last
	// Hold are done.
	DrainProduction(ctx context.Context, project string) error
}

// Websockets ends connections that no drain waits for.
type Websockets interface {
	CloseWebsockets(ref svc.Ref, role svc.Role, after time.Duration)
}

// Routes hears of the moves that a promotion makes.
type Routes interface {
	StatusChanged(ref svc.Ref, status svc.Status)
}

// Observer counts, for metrics. Its method returns at once.
type Observer interface {
	PromoteDone(result string, seconds float64) // "done" or "failed"
}

// Deps is everything a Service works with.
type Deps struct {
	Projects   Projects
	Versions   Versions
	Promotions Promotions
	Journals   Journals
	Gateway    Gateway
	Websockets Websockets
	Routes     Routes
	Bucket     objstore.Bucket // of runtime data: holds {project}/production.json
	Logger     *slog.Logger
	Observer   Observer // nil: nobody counts

	StepLimit      time.Duration // 0: DefaultStepLimit
	HoldLimit      time.Duration // 0: DefaultHoldLimit
	DrainWait      time.Duration // 0: DefaultDrainWait
	WebsocketGrace time.Duration // 0: DefaultWebsocketGrace
}

// Service promotes versions.
type Service struct {
	deps  Deps
	log   *slog.Logger
	saga  saga.Saga[*run]
	locks *locks

	mu      sync.Mutex
	stopped bool
	running map[string]*reservation // projects with a promotion under way
	quit    chan struct{}           // closed by Stop: what waits to be tried again gives up
	kill    chan struct{}           // closed when Stop has waited long enough
	sagas   sync.WaitGroup
}

// New checks deps. It starts nothing.
func New(deps Deps) (*Service, error) {
	switch {
	case deps.Projects == nil || deps.Versions == nil || deps.Promotions == nil || deps.Journals == nil:
		return nil, errors.New("promote: no registry")
	case deps.Gateway == nil || deps.Websockets == nil || deps.Routes == nil:
		return nil, errors.New("promote: no gateway")
	case deps.Bucket == nil || deps.Logger == nil:
		return nil, errors.New("promote: bucket and logger are needed")
	}
	deps.StepLimit = orDefault(deps.StepLimit, DefaultStepLimit)
	deps.HoldLimit = orDefault(deps.HoldLimit, DefaultHoldLimit)
	deps.DrainWait = orDefault(deps.DrainWait, DefaultDrainWait)
	deps.WebsocketGrace = orDefault(deps.WebsocketGrace, DefaultWebsocketGrace)
	if deps.Observer == nil {
		deps.Observer = noObserver{}
	}
	return &Service{
		deps: deps, log: deps.Logger, saga: newSaga(deps.StepLimit), locks: newLocks(),
		running: map[string]*reservation{}, quit: make(chan struct{}), kill: make(chan struct{}),
	}, nil
}

func orDefault(d, or time.Duration) time.Duration {
	if d <= 0 {
		return or
	}
	return d
}

// Stop accepts no more promotions and waits for those under way. When ctx ends
// first they are cut off, which makes them compensate; what that cannot finish
// is resumed by the next start [D21]. Calls after the first wait in the same
// way.
func (s *Service) Stop(ctx context.Context) error {
	s.mu.Lock()
	if !s.stopped {
		s.stopped = true
		close(s.quit)
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { s.sagas.Wait(); close(done) }()
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

type noObserver struct{}

func (noObserver) PromoteDone(string, float64) {}
