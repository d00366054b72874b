package retention

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/svc"
)

// parallel is the number of versions that are archived or destroyed at one time.
const parallel = 4

// Registry finds versions and deletes projects.
type Registry interface {
	SearchVersions(ctx context.Context, f svc.VersionFilter, p svc.PageRequest) (svc.Page[svc.Version], error)
	// DeleteProject marks a project as deleted, without production.
	DeleteProject(ctx context.Context, id, production string) (svc.Project, error)
	// VersionsOfDeleted returns the versions of deleted projects that are not destroyed.
	VersionsOfDeleted(ctx context.Context) ([]svc.Version, error)
}

// Verbs archives and destroys single versions.
type Verbs interface {
	Archive(ctx context.Context, ref svc.Ref) (svc.Version, error)
	Destroy(ctx context.Context, ref svc.Ref) (svc.Version, error)
}

// Gateway routes production host names.
type Gateway interface {
	SetProduction(project, version string)
}

// Deps are the dependencies and settings of a Service.
type Deps struct {
	Registry Registry
	Verbs    Verbs
	Gateway  Gateway
	Logger   *slog.Logger
	Failed   svc.Keep // SVC_KEEP_FAILED
	Archived svc.Keep // SVC_KEEP_ARCHIVED
}

// Service is the service.
type Service struct{ deps Deps }

// New returns a Service.
func New(deps Deps) *Service { return &Service{deps} }

// Apply archives or destroys the versions that f selects, and says what became of each;
// in a dry run what would be done. Versions that are production or pinned, or whose
// status does not allow it, have an error. The rest does not stop at an error.
func (s *Service) Apply(ctx context.Context, verb svc.BulkVerb, f svc.VersionFilter, dryRun bool) ([]svc.BulkResult, error) {
	all, err := s.search(ctx, f)
	if err != nil {
		return nil, err
	}
	return s.each(ctx, verb, all, dryRun), nil
}

func (s *Service) search(ctx context.Context, f svc.VersionFilter) (all []svc.Version, err error) {
	for at := (svc.PageRequest{Limit: 200}); ; {
		page, err := s.deps.Registry.SearchVersions(ctx, f, at)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if at.Before = page.Next; at.Before == 0 {
			return all, nil
		}
	}
}

func (s *Service) each(ctx context.Context, verb svc.BulkVerb, versions []svc.Version, dryRun bool) []svc.BulkResult {
	results := make([]svc.BulkResult, len(versions))
	var running errgroup.Group
	running.SetLimit(parallel)
	for i, v := range versions {
		results[i] = svc.BulkResult{Version: v, Err: protected(verb, v)}
		if results[i].Err == nil && !dryRun {
			running.Go(func() error {
				results[i] = s.one(ctx, verb, v)
				return nil
			})
		}
	}
	_ = running.Wait() // errors are in the results
	return results
}

func (s *Service) one(ctx context.Context, verb svc.BulkVerb, v svc.Version) svc.BulkResult {
	if err := ctx.Err(); err != nil {
		return svc.BulkResult{Version: v, Err: err}
	}
	do := s.deps.Verbs.Destroy
	if verb == svc.BulkArchive {
		do = s.deps.Verbs.Archive
	}
	now, err := do(ctx, v.Ref)
	if err != nil {
		return svc.BulkResult{Version: v, Err: err}
	}
	return svc.BulkResult{Version: now, Done: true}
}

// protected returns why a verb leaves a version out.
func protected(verb svc.BulkVerb, v svc.Version) error {
	switch {
	case v.Production:
		return svc.Errorf(svc.Conflict, svc.CodeVersionIsProduction, "version %s is production", v.Ref)
	case v.Pinned:
		return svc.Errorf(svc.Conflict, svc.CodeVersionPinned, "version %s has a pin", v.Ref).WithHint("unpin it first")
	case verb == svc.BulkArchive && v.Status != svc.StatusReady:
		return svc.Errorf(svc.Conflict, svc.CodeVersionNotReady, "version %s is %s", v.Ref, v.Status)
	}
	return nil
}

// Due returns the versions that the retention settings do not keep, which Sweep destroys.
func (s *Service) Due(ctx context.Context) (due []svc.Version, err error) {
	for _, rule := range []struct {
		status svc.Status
		keep   svc.Keep
	}{{svc.StatusFailed, s.deps.Failed}, {svc.StatusArchived, s.deps.Archived}} {
		if rule.keep.Off() {
			continue
		}
		all, err := s.search(ctx, svc.VersionFilter{Statuses: []svc.Status{rule.status}})
		if err != nil {
			return nil, fmt.Errorf("listing %s versions: %w", rule.status, err)
		}
		all = slices.DeleteFunc(all, func(v svc.Version) bool { return protected(svc.BulkDestroy, v) != nil })
		slices.SortStableFunc(all, func(a, b svc.Version) int {
			return cmp.Or(cmp.Compare(a.Project, b.Project), b.UpdatedAt.Compare(a.UpdatedAt))
		})
		for len(all) > 0 {
			n := slices.IndexFunc(all, func(v svc.Version) bool { return v.Project != all[0].Project })
			if n < 0 {
				n = len(all)
			}
			due = append(due, rule.keep.Expired(all[:n], time.Now())...)
			all = all[n:]
		}
	}
	return due, nil
}

// Keeps returns the rules in effect.
func (s *Service) Keeps() (failed, archived svc.Keep) { return s.deps.Failed, s.deps.Archived }

// Sweep destroys what is Due, and what is left of deleted projects. It tries all versions
// and joins the errors.
func (s *Service) Sweep(ctx context.Context) ([]svc.BulkResult, error) {
	due, err := s.Due(ctx)
	if err != nil {
		return nil, err
	}
	left, err := s.deps.Registry.VersionsOfDeleted(ctx)
	if err != nil {
		return nil, err
	}
	results := s.each(ctx, svc.BulkDestroy, append(due, left...), false)
	var errs []error
	for _, r := range results {
		switch {
		case r.Done:
			s.deps.Logger.InfoContext(ctx, "retention destroyed a version", "project", r.Version.Project, "version", r.Version.Version)
		case errors.Is(r.Err, svc.Conflict), errors.Is(r.Err, svc.NotFound): // woken, pinned or destroyed meanwhile
		case r.Err != nil:
			errs = append(errs, fmt.Errorf("destroying %s: %w", r.Version.Ref, r.Err))
		}
	}
	return results, errors.Join(errs...)
}

// DeleteProject deletes a project and destroys all of its versions, production and pinned
// ones included. production is the production version, which the caller confirms. From the
// begin of the call the project takes no versions; Sweep destroys those that this call
// could not destroy.
//
// Errors: NotFound, project_not_found; Conflict, promote_in_progress; Precondition,
// production_moved, if production is another version.
func (s *Service) DeleteProject(ctx context.Context, id, production string) (svc.Project, []svc.BulkResult, error) {
	p, err := s.deps.Registry.DeleteProject(ctx, id, production)
	if err != nil {
		return svc.Project{}, nil, err
	}
	s.deps.Gateway.SetProduction(id, "")
	all, err := s.search(ctx, svc.VersionFilter{Project: id})
	if err != nil {
		return p, nil, err
	}
	for i := range all {
		all[i].Pinned = false
	}
	results := s.each(ctx, svc.BulkDestroy, all, false)
	s.deps.Logger.InfoContext(ctx, "project deleted", "project", id, "versions", len(results))
	return p, results, nil
}
