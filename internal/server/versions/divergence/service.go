package divergence

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// The bounds of one comparison.
const (
	// DefaultPages is 64 MiB of pages of 4 KiB.
	DefaultPages = 16 << 10
	// DefaultTime bounds a comparison without a shorter deadline.
	DefaultTime = 10 * time.Second
)

// Registry reads projects and versions.
type Registry interface {
	Project(ctx context.Context, id string) (svc.Project, error)
	Version(ctx context.Context, ref svc.Ref) (svc.Version, error)
}

// Runtimes runs the worker hosts.
type Runtimes interface {
	// Cut returns a cut from the worker host of a version. The code of the error is
	// runtime_not_open or runtime_restarting for a version without one.
	Cut(ctx context.Context, ref svc.Ref) (branch.VersionCut, error)
}

// Records reads the records of versions in the object store: branch.Store.
type Records interface {
	// Load returns nil without an error for a version that was not forked.
	Load(ctx context.Context, v svc.Ref) (*branch.Manifest, error)
	// Logs lists the log files of a version, by database.
	Logs(ctx context.Context, v svc.Ref) (map[string][]objstore.Info, error)
}

// Deps are the dependencies of a Service.
type Deps struct {
	Registry Registry
	Runtimes Runtimes
	Records  Records
	Bucket   objstore.Bucket // of the logs
	// CutStored cuts a version that no process has open, in the object store.
	CutStored func(ctx context.Context, ref svc.Ref) (map[string]branch.Cut, error)
	// Waiting counts the work of a version that continues only while it serves.
	Waiting func(ctx context.Context, ref svc.Ref) svc.Waiting
	// Tables are the tables of records of all kinds of bindings: binding.Records.
	Tables []binding.Table
	Logger *slog.Logger

	Pages int           // 0: DefaultPages
	Time  time.Duration // 0: DefaultTime
	// ExportPages is how many pages an export may read; 0: DefaultExportPages.
	ExportPages int
	// DiffPages is how many pages a diff may read that is not full; 0: DefaultDiffPages.
	DiffPages int
	// DiffBytes is how much memory the records of one database that differ may need; 0: DefaultDiffBytes.
	DiffBytes int
	HoldLimit time.Duration // of a release, as its plan says
	Forks     svc.ForkPolicy
}

// Service compares versions.
type Service struct {
	deps    Deps
	one     chan struct{} // holds a token while a comparison runs: its pages are in memory
	exports chan struct{} // the same of an export, which must not delay a promote
	diffs   chan struct{} // a token for each diff that runs, which must not wait for an export
}

// workflows is the table of the instances of workflows, the only one outside of the shared database.
func (d Deps) workflows() (own binding.Table) {
	for _, t := range d.Tables {
		if t.Database != volume.SharedDatabase {
			own = t
		}
	}
	return own
}

// New returns a Service, or an error if a dependency is missing.
func New(deps Deps) (*Service, error) {
	if deps.Registry == nil || deps.Runtimes == nil || deps.Records == nil || deps.Bucket == nil || deps.Logger == nil {
		return nil, errors.New("divergence: registry, runtimes, records, bucket and logger required")
	}
	if deps.CutStored == nil || deps.Waiting == nil || deps.workflows().Name == "" {
		return nil, errors.New("divergence: CutStored, Waiting and Tables required")
	}
	deps.Pages, deps.Time = cmp.Or(deps.Pages, DefaultPages), cmp.Or(deps.Time, DefaultTime)
	deps.ExportPages = cmp.Or(deps.ExportPages, DefaultExportPages)
	deps.DiffPages, deps.DiffBytes = cmp.Or(deps.DiffPages, DefaultDiffPages), cmp.Or(deps.DiffBytes, DefaultDiffBytes)
	return &Service{deps: deps, one: make(chan struct{}, 1), exports: make(chan struct{}, 1), diffs: make(chan struct{}, diffsTogether)}, nil
}

// Plan returns what a promote of ref would change. Errors: NotFound.
func (s *Service) Plan(ctx context.Context, ref svc.Ref) (svc.PromotionPlan, error) {
	p, err := s.deps.Registry.Project(ctx, ref.Project)
	if err != nil {
		return svc.PromotionPlan{}, err
	}
	v, err := s.deps.Registry.Version(ctx, ref)
	if err != nil {
		return svc.PromotionPlan{}, err
	}
	plan := svc.PromotionPlan{Project: ref.Project, Version: ref.Version, Status: v.Status, Production: p.ProdVersionID}
	if p.ProdVersionID != "" && p.ProdVersionID != ref.Version {
		plan.Left = s.Left(ctx, svc.Ref{Project: ref.Project, Version: p.ProdVersionID}, ref)
	}
	return plan, nil
}

// Compare returns what each of two versions wrote that the other lacks. Errors: NotFound.
func (s *Service) Compare(ctx context.Context, from, to svc.Ref) (ofFrom, ofTo svc.Unmerged, err error) {
	for _, ref := range []svc.Ref{from, to} {
		if _, err := s.deps.Registry.Version(ctx, ref); err != nil {
			return svc.Unmerged{}, svc.Unmerged{}, err
		}
	}
	return s.Unmerged(ctx, from, to), s.Unmerged(ctx, to, from), nil
}

// Left counts what stays with production when target becomes production.
func (s *Service) Left(ctx context.Context, production, target svc.Ref) svc.Left {
	unmerged := s.Unmerged(ctx, production, target)
	waiting := s.deps.Waiting(ctx, production)
	return svc.Left{Unmerged: &unmerged, Waiting: &waiting}
}

// Unmerged counts what production wrote that target lacks. What cannot be counted is in
// the result; it returns no error.
func (s *Service) Unmerged(ctx context.Context, production, target svc.Ref) svc.Unmerged {
	ctx, cancel := context.WithTimeout(ctx, s.deps.Time)
	defer cancel()
	select {
	case s.one <- struct{}{}:
		defer func() { <-s.one }()
	case <-ctx.Done():
		return svc.Unmerged{Reason: svc.NoCutUnavailable, Instances: svc.Written{AtLeast: true}}
	}
	c := &comparison{deps: s.deps, production: production, pages: s.deps.Pages}
	c.until, _ = ctx.Deadline()
	c.until = c.until.Add(-c.margin())
	if err := c.data(ctx, target); err != nil {
		s.log(ctx, production, target, err)
		c.out = svc.Unmerged{Reason: reason(err)}
	}
	c.out.Instances = c.instances(ctx)
	return c.out
}

func (s *Service) log(ctx context.Context, production, target svc.Ref, err error) {
	if !errors.Is(err, errUnrelated) {
		s.deps.Logger.WarnContext(ctx, "unmerged writes of production not counted", "production", production.String(), "target", target.String(), "error", err)
	}
}

// reason is what a failed comparison is called in its result.
func reason(err error) svc.NoCommonCut {
	switch {
	case errors.Is(err, errUnrelated):
		return svc.NoCutUnrelated
	case errors.Is(err, errLost):
		return svc.NoCutLost
	}
	return svc.NoCutUnavailable
}
