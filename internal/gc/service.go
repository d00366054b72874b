package gc

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// The paces of a Service.
const (
	DefaultEvery      = 10 * time.Minute
	DefaultAuditEvery = 24 * time.Hour
	// DefaultLimit is how long a collection or an audit that somebody waits for
	// may take.
	DefaultLimit = 20 * time.Second
	// firstSweep is about when the first sweep after the start begins.
	firstSweep = time.Minute
)

// Branches is what sweeps: branch.Store.
type Branches interface {
	Projects(ctx context.Context) ([]string, error)
	Sweep(ctx context.Context, project string, o branch.SweepOptions) (*branch.Report, error)
	Grace() time.Duration
}

// Records are what the audit reads beside the logs: branch.Store.
type Records interface {
	Record(ctx context.Context, v svc.Ref) (*branch.Record, error)
	Load(ctx context.Context, v svc.Ref) (*branch.Manifest, error)
}

// Registry says what there is, and what is wanted.
type Registry interface {
	Project(ctx context.Context, id string) (svc.Project, error)
	ListProjects(ctx context.Context, p svc.PageRequest) (svc.Page[svc.Project], error)
	Briefs(ctx context.Context, project string) ([]svc.Brief, error)
}

// Observer counts, for metrics. Its methods return at once.
type Observer interface {
	GCDeleted(objects int, bytes int64)
	GCSweepDone(pinnedBytes int64, at time.Time) // of all projects, none failed
	GCAuditDone(problems int, at time.Time)      // of all projects
}

// Deps is everything a Service works with.
type Deps struct {
	Branches Branches
	Records  Records
	Data     objstore.Bucket // of the logs
	Registry Registry
	Host     string // this daemon's, where others reach the store; see branch.SweepOptions
	Logger   *slog.Logger
	Observer Observer // nil: nobody counts

	Every      time.Duration // between sweeps; 0: DefaultEvery
	AuditEvery time.Duration // 0: DefaultAuditEvery
	Limit      time.Duration // 0: DefaultLimit
}

// Service collects and audits.
type Service struct {
	deps    Deps
	log     *slog.Logger
	started time.Time
	turn    chan struct{} // holds one while a project is swept

	mu                   sync.Mutex
	lastSweep, lastAudit time.Time
	pinned               map[string]int64 // bytes, by project
}

// New checks deps. It starts nothing.
func New(deps Deps) (*Service, error) {
	if deps.Branches == nil || deps.Records == nil || deps.Data == nil || deps.Registry == nil || deps.Logger == nil {
		return nil, errors.New("gc: branches, records, data, a registry and a logger are needed")
	}
	deps.Every = orDefault(deps.Every, DefaultEvery)
	deps.AuditEvery = orDefault(deps.AuditEvery, DefaultAuditEvery)
	deps.Limit = orDefault(deps.Limit, DefaultLimit)
	if deps.Observer == nil {
		deps.Observer = noObserver{}
	}
	return &Service{
		deps: deps, log: deps.Logger, started: time.Now(), turn: make(chan struct{}, 1), pinned: map[string]int64{},
	}, nil
}

func orDefault(d, or time.Duration) time.Duration {
	if d <= 0 {
		return or
	}
	return d
}

// Run sweeps and audits until ctx ends.
func (s *Service) Run(ctx context.Context) {
	wait := time.NewTimer(jitter(min(firstSweep, s.deps.Every)))
	defer wait.Stop()
	audit := time.Now() // right after the first sweep
	for {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
		}
		if _, err := s.collect(ctx, svc.GCRequest{}); err != nil && ctx.Err() == nil {
			s.log.ErrorContext(ctx, "no project was swept", "error", err)
		}
		if !time.Now().Before(audit) && ctx.Err() == nil {
			if _, err := s.audit(ctx, ""); err == nil {
				audit = time.Now().Add(jitter(s.deps.AuditEvery))
			} else if ctx.Err() == nil {
				s.log.ErrorContext(ctx, "the object store was not audited; the next sweep tries again", "error", err)
			}
		}
		wait.Reset(jitter(s.deps.Every))
	}
}

// jitter is d, give or take a tenth, so that daemons do not march in step.
func jitter(d time.Duration) time.Duration {
	return d - d/10 + rand.N(d/5+1) //nolint:gosec // no secret
}

// errLimit ends the work that somebody waits for.
var errLimit = errors.New("time is up")

// limited bounds ctx. over tells whether it was the bound that ended it.
func (s *Service) limited(ctx context.Context) (bounded context.Context, over func() bool, cancel func()) {
	bounded, cancel = context.WithTimeoutCause(ctx, s.deps.Limit, errLimit)
	return bounded, func() bool { return ctx.Err() == nil && errors.Is(context.Cause(bounded), errLimit) }, cancel
}

type noObserver struct{}

func (noObserver) GCDeleted(int, int64)         {}
func (noObserver) GCSweepDone(int64, time.Time) {}
func (noObserver) GCAuditDone(int, time.Time)   {}
