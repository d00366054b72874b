package gc

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// The codes of what an audit or a sweep finds wrong.
const (
	codeFileMissing     = "file_missing"      // a manifest, or the record of an archived version, names an object that is not there
	codeFileSize        = "file_size"         // an object has another size than it must have
	codeLogHole         = "log_hole"          // transactions are missing in the middle of a log
	codeLogShort        = "log_short"         // the end of a log is missing that was proven to be there
	codeNotRestorable   = "not_restorable"    // no set of objects gives the newest transaction
	codeMarkedNeeded    = "marked_needed"     // only with objects that are marked for deletion
	codeManifestMissing = "manifest_missing"  // a fork without its manifest
	codeRecordDestroyed = "record_destroyed"  // the record says destroyed, the registry does not
	codeUnreadable      = "record_unreadable" // record or manifest make no sense
	codeUnknown         = "version_unknown"   // data of a version that the registry does not know
	codeOverdue         = "overdue"           // nobody needs it, and it should have been deleted by now
	codeAuditFailed     = "audit_failed"      // of a whole project
	codeOwnerChanged    = "owner_changed"     // only during a sweep
)

// Audit checks now that everything is there that wanted versions need, and that
// what nobody needs has gone; of one project, or of all for "". It changes
// nothing and takes at most the limit: then it is Incomplete. A project that
// cannot be audited is a problem and stops no other.
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
			s.log.ErrorContext(ctx, "a project could not be audited", "project", id, "error", err)
			audit.Problems = append(audit.Problems, svc.StoreProblem{
				Code: codeAuditFailed, Ref: svc.Ref{Project: id}, Detail: "the project could not be audited; the log says why",
			})
		}
		audit.Projects++
	}
	for _, p := range audit.Problems {
		s.log.ErrorContext(ctx, "the audit of the object store found a problem", "project", p.Ref.Project, "version", p.Ref.Version,
			"store", p.Store, "key", p.Key, "code", p.Code, "count", p.Count, "detail", p.Detail)
	}
	if only == "" {
		s.mu.Lock()
		s.lastAudit = time.Now()
		s.mu.Unlock()
		s.deps.Observer.GCAuditDone(len(audit.Problems), time.Now())
	}
	return audit, nil
}

// audited are the projects of the registry and of the store.
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
	if errors.Is(err, svc.NotFound) { // the store may have some of it still
		if ids, listErr := s.stored(ctx); listErr != nil || slices.Contains(ids, only) {
			return []string{only}, listErr
		}
	}
	return []string{only}, err
}

// auditProject asks what is wanted, then looks what is there.
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
		audit.Stores += found.stores
		audit.Files += found.files
		audit.Problems = append(audit.Problems, found.problems...)
	}
	late, err := p.leftovers(ctx)
	audit.Problems = append(audit.Problems, late...)
	return err
}
