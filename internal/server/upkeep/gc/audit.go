package gc

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Audit checks that all objects that wanted versions need exist, and that objects that
// no version needs are deleted; in one project, or in all for "". It changes nothing.
// If it reaches the limit, the result is Incomplete. A project that cannot be audited
// is a problem in the result and does not stop the audit.
//
// Errors: NotFound, project_not_found; Unavailable, store_unavailable.
func (s *Service) Audit(ctx context.Context, project string) (svc.GCAudit, error) {
	bounded, over, cancel := s.limited(ctx)
	defer cancel()
	audit, err := s.audit(bounded, project)
	if over() {
		audit.Incomplete, err = true, nil
	}
	return audit, err
}

func (s *Service) audit(ctx context.Context, only string) (audit svc.GCAudit, err error) {
	audit.StartedAt = time.Now()
	defer func() { audit.Took = time.Since(audit.StartedAt) }()
	ids, err := s.audited(ctx, only)
	if err != nil {
		return audit, err
	}
	for _, id := range ids {
		if err := s.auditProject(ctx, id, &audit); err != nil {
			if ctx.Err() != nil {
				return audit, context.Cause(ctx)
			}
			s.log.ErrorContext(ctx, "auditing a project failed; continuing with the next", "project", id, "error", err)
			audit.Problems = append(audit.Problems, svc.StoreProblem{
				Code: svc.CodeAuditFailed, Ref: svc.Ref{Project: id}, Detail: "the project could not be audited; read the service's log",
			})
		}
		audit.Projects++
	}
	for _, p := range audit.Problems {
		s.log.ErrorContext(ctx, "the audit found a problem", "project", p.Ref.Project, "version", p.Ref.Version,
			"database", p.Database, "key", p.Key, "code", p.Code, "count", p.Count, "detail", p.Detail)
	}
	if only == "" {
		s.mu.Lock()
		s.lastAudit = time.Now()
		s.mu.Unlock()
		s.deps.Observer.GCAuditDone(len(audit.Problems), time.Now())
	}
	return audit, nil
}

// audited returns the projects of the registry and of the object store.
func (s *Service) audited(ctx context.Context, only string) (ids []string, err error) {
	if only != "" {
		return s.oneAudited(ctx, only)
	}
	if ids, err = s.stored(ctx); err != nil {
		return nil, err
	}
	const page = 200
	for before := int64(0); ; {
		projects, err := s.deps.Registry.ListProjects(ctx, svc.PageRequest{Limit: page, Before: before})
		if err != nil {
			return nil, err
		}
		for _, p := range projects.Items {
			ids = append(ids, p.ID)
		}
		if before = projects.Next; before == 0 {
			break
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

func (s *Service) oneAudited(ctx context.Context, only string) ([]string, error) {
	_, err := s.deps.Registry.Project(ctx, only)
	if errors.Is(err, svc.NotFound) { // the object store may still have data
		if ids, listErr := s.stored(ctx); listErr != nil || slices.Contains(ids, only) {
			return []string{only}, listErr
		}
	}
	return []string{only}, err
}

// auditProject reads from the registry which versions are wanted, then checks the
// objects.
func (s *Service) auditProject(ctx context.Context, id string, audit *svc.GCAudit) error {
	briefs, err := s.deps.Registry.Briefs(ctx, id)
	if err != nil {
		return err
	}
	there, err := s.list(ctx, id+"/")
	if err != nil {
		return err
	}
	p := newProjectAudit(s, id, there)
	for _, b := range briefs {
		p.briefs[b.ID] = b
		if !wanted(b) {
			continue
		}
		found, err := p.version(ctx, b)
		if err != nil {
			return err
		}
		audit.Versions++
		audit.Databases += found.databases
		audit.Files += found.files
		audit.Problems = append(audit.Problems, found.problems...)
	}
	late, err := p.leftovers(ctx)
	audit.Problems = append(audit.Problems, late...)
	return err
}
