package watch

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/lib/service"
	"github.com/svcctl/svcctl/internal/svc"
)

// interval is the time between two looks at a release.
const interval = 5 * time.Second

// Registry holds the records of releases.
type Registry interface {
	Project(ctx context.Context, id string) (svc.Project, error)
	Promotion(ctx context.Context, project, id string) (svc.Promotion, error)
	// WatchedPromotions returns the releases that are still watched.
	WatchedPromotions(ctx context.Context) ([]svc.Promotion, error)
	// SetWatch stores the watch of a release, and adds an event when its state changed.
	SetWatch(ctx context.Context, op svc.Promotion, w svc.Watch) error
}

// Traffic counts requests: traffic.Recorder.
type Traffic interface {
	Version(ref svc.Ref, window time.Duration) svc.Traffic
}

// Deps are the dependencies of a Service.
type Deps struct {
	Registry Registry
	Traffic  Traffic
	// Release starts a release: promote.Service.
	Release func(ctx context.Context, candidate svc.Ref, req svc.ReleaseRequest) (svc.Promotion, error)
	Logger  *slog.Logger

	Interval time.Duration // between two looks; 0: five seconds
}

// Service watches releases.
type Service struct {
	deps Deps
	work service.Work

	mu      sync.Mutex
	watched map[string]bool // by operation
}

// New returns a Service. It starts nothing.
func New(deps Deps) *Service {
	deps.Interval = cmp.Or(deps.Interval, interval)
	return &Service{deps: deps, watched: map[string]bool{}}
}

// Start continues the watches of the previous process.
func (s *Service) Start(ctx context.Context) error {
	ops, err := s.deps.Registry.WatchedPromotions(ctx)
	if err != nil {
		return fmt.Errorf("continuing the watches of releases: %w", err)
	}
	for _, op := range ops {
		s.Watch(ctx, op)
	}
	return nil
}

// Stop ends the watches; the next process continues them.
func (s *Service) Stop(ctx context.Context) error { return s.work.Stop(ctx) }

// Watch supervises a release that is done, if it asks for that. It does not block.
func (s *Service) Watch(ctx context.Context, op svc.Promotion) {
	rule, err := svc.ParseWatchRule(op.Watch.AbortOn)
	if op.Watch.State != svc.WatchWatching || err != nil || !s.take(op.ID) {
		return
	}
	w := &watch{Service: s, op: op, rule: rule, now: op.Watch, log: s.deps.Logger.With("project", op.Project, "version", op.Version, "operation", op.ID)}
	_ = s.work.Go(ctx, func(ctx context.Context) { // an error means that the server stops
		defer s.drop(op.ID)
		w.untilEnd(ctx)
	})
}

// take reports whether nothing watches the release yet.
func (s *Service) take(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watched[id] {
		return false
	}
	s.watched[id] = true
	return true
}

func (s *Service) drop(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watched, id)
}
