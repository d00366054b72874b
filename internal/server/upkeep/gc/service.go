package gc

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/lib/keyed"
	"github.com/svcctl/svcctl/internal/server/versions/assetstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// The defaults of Deps.
const (
	DefaultEvery = 10 * time.Minute
	// DefaultLimit is the time limit of a collection or an audit for which a caller
	// waits.
	DefaultLimit = 20 * time.Second
)

// Branches sweeps projects: branch.Store.
type Branches interface {
	Projects(ctx context.Context) ([]string, error)
	Sweep(ctx context.Context, project string, o branch.SweepOptions) (*branch.Report, error)
	Grace() time.Duration
}

// Records reads the records and manifests of versions: branch.Store.
type Records interface {
	Record(ctx context.Context, v svc.Ref) (*branch.Record, error)
	Load(ctx context.Context, v svc.Ref) (*branch.Manifest, error)
}

// Registry lists projects and versions.
type Registry interface {
	Project(ctx context.Context, id string) (svc.Project, error)
	ListProjects(ctx context.Context, p svc.PageRequest) (svc.Page[svc.Project], error)
	Briefs(ctx context.Context, project string) ([]svc.Brief, error)
}

// Assets are the static files that versions share: assetstore.Store.
type Assets interface {
	Projects(ctx context.Context) ([]string, error)
	Collect(ctx context.Context, project string, o assetstore.CollectOptions) (svc.GCAssets, error)
}

// Observer counts, for metrics. Its methods do not block.
type Observer interface {
	GCDeleted(objects int, bytes int64)
	GCSweepDone(pinnedBytes int64, at time.Time) // of all projects, without an error
	GCAuditDone(problems int, at time.Time)      // of all projects
}

// Deps are the dependencies and settings of a Service.
type Deps struct {
	Branches Branches
	Records  Records
	Data     objstore.Bucket // of the logs
	Assets   Assets
	Registry Registry
	Node     string // this daemon's; "" if no other node uses the object store; see branch.SweepOptions
	Logger   *slog.Logger
	Observer Observer            // nil: no counting
	Publish  func(svc.FeedEvent) // nil: no events

	// History is how long points of the past are kept at most, and KeepHistory how long in a project; nil for
	// the same in all.
	History     branch.History
	KeepHistory func(ctx context.Context, project string) (branch.History, error)

	Every time.Duration // interval of sweeps that the audit expects; 0: DefaultEvery
	Limit time.Duration // 0: DefaultLimit
}

// Service collects and audits.
type Service struct {
	deps    Deps
	log     *slog.Logger
	started time.Time
	turn    chan struct{} // holds one token while a project is swept

	mu                   sync.Mutex
	lastSweep, lastAudit time.Time
	pinned               map[string]int64 // bytes, by project

	measuring keyed.Mutex[string]
	sizes     map[string]svc.BranchSizes // by project; guarded by mu
}

// New returns a Service, or an error if a dependency is missing. It starts nothing.
func New(deps Deps) (*Service, error) {
	if deps.Branches == nil || deps.Records == nil || deps.Data == nil || deps.Assets == nil || deps.Registry == nil || deps.Logger == nil {
		return nil, errors.New("gc: branches, records, data, assets, registry and logger required")
	}
	deps.Every = cmp.Or(deps.Every, DefaultEvery)
	deps.Limit = cmp.Or(deps.Limit, DefaultLimit)
	if deps.Publish == nil {
		deps.Publish = func(svc.FeedEvent) {}
	}
	if deps.Observer == nil {
		deps.Observer = noObserver{}
	}
	return &Service{
		deps: deps, log: deps.Logger, started: time.Now(), turn: make(chan struct{}, 1), pinned: map[string]int64{},
		sizes: map[string]svc.BranchSizes{},
	}, nil
}

// CollectAll sweeps every project, without a limit. The errors of single projects are
// logged. Errors: Unavailable, store_unavailable.
func (s *Service) CollectAll(ctx context.Context) error {
	_, err := s.collect(ctx, svc.GCRequest{})
	return err
}

// AuditAll audits every project, without a limit, and logs the problems. Errors:
// Unavailable, store_unavailable.
func (s *Service) AuditAll(ctx context.Context) error {
	_, err := s.audit(ctx, "")
	return err
}

// history is how long the points of a project are kept: as long as in any project while that cannot be read.
func (s *Service) history(ctx context.Context, project string) branch.History {
	if s.deps.History.Off() || s.deps.KeepHistory == nil {
		return s.deps.History
	}
	keep, err := s.deps.KeepHistory(ctx, project)
	if err != nil {
		s.log.WarnContext(ctx, "reading how long a project keeps its history failed; keeping all of it", "project", project, "error", err)
		return s.deps.History
	}
	return keep.Least(s.deps.History)
}

// errLimit is the cause when the limit ends a collection or an audit.
var errLimit = errors.New("time limit reached")

// limited bounds ctx. over reports whether the limit ended it.
func (s *Service) limited(ctx context.Context) (bounded context.Context, over func() bool, cancel func()) {
	bounded, cancel = context.WithTimeoutCause(ctx, s.deps.Limit, errLimit)
	return bounded, func() bool { return ctx.Err() == nil && errors.Is(context.Cause(bounded), errLimit) }, cancel
}

type noObserver struct{}

func (noObserver) GCDeleted(int, int64)         {}
func (noObserver) GCSweepDone(int64, time.Time) {}
func (noObserver) GCAuditDone(int, time.Time)   {}
