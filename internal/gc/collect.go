package gc

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// Collect sweeps now, or says with DryRun what a sweep would do. It takes at
// most the limit; a report that is Incomplete names the projects that had their
// turn, and sweeping goes on by itself later.
//
// Errors: NotFound, project_not_found; Unavailable, store_unavailable. A project that fails has its error in the
// report.
func (s *Service) Collect(ctx context.Context, req svc.GCRequest) (svc.GCReport, error) {
	bounded, over, cancel := s.limited(ctx)
	defer cancel()
	report, err := s.collect(bounded, req)
	if over() {
		report.Incomplete, err = true, nil
	}
	return report, err
}

func (s *Service) collect(ctx context.Context, req svc.GCRequest) (svc.GCReport, error) {
	report := svc.GCReport{DryRun: req.DryRun, StartedAt: time.Now(), Grace: s.deps.Branches.Grace()}
	ids, err := s.projects(ctx, req.Project)
	for _, id := range ids {
		if ctx.Err() != nil {
			break
		}
		if p := s.collectProject(ctx, id, req.DryRun); p.Err != nil || len(p.Versions) > 0 {
			report.Projects = append(report.Projects, p)
		}
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil && req.Project == "" && !req.DryRun {
		s.sweepDone(&report)
	}
	s.mu.Lock()
	report.LastSweep, report.LastAudit = s.lastSweep, s.lastAudit
	s.mu.Unlock()
	report.Took = time.Since(report.StartedAt)
	return report, err
}

// projects are those that have anything in the store, or the one that is asked for.
func (s *Service) projects(ctx context.Context, only string) ([]string, error) {
	ids, err := s.stored(ctx)
	if err != nil || only == "" {
		return ids, err
	}
	for _, id := range ids {
		if id == only { // also one that the registry does not know any more
			return []string{id}, nil
		}
	}
	_, err = s.deps.Registry.Project(ctx, only)
	return nil, err
}

// stored are the projects that have anything in the store.
func (s *Service) stored(ctx context.Context) ([]string, error) {
	ids, err := s.deps.Branches.Projects(ctx)
	if err != nil {
		err = svc.Errorf(svc.Unavailable, "store_unavailable", "the object store cannot be listed").
			WithHint("GET /v1/health/deep says how it is").Because(err)
	}
	return ids, err
}

// collectProject sweeps one project in its turn.
func (s *Service) collectProject(ctx context.Context, id string, dryRun bool) svc.GCProject {
	if !dryRun {
		select {
		case s.turn <- struct{}{}:
			defer func() { <-s.turn }()
		case <-ctx.Done():
			return svc.GCProject{ID: id, Err: context.Cause(ctx)}
		}
	}
	var known map[string]svc.Brief
	swept, err := s.deps.Branches.Sweep(ctx, id, branch.SweepOptions{
		DryRun: dryRun, Host: s.deps.Host,
		Fates: func(ctx context.Context) (fates map[string]branch.Fate, err error) {
			known, fates, err = s.fates(ctx, id)
			return fates, err
		},
	})
	p := projectOf(id, swept, known)
	if err != nil {
		p.Err = svc.Errorf(svc.Unavailable, "gc_failed", "project %s was not collected to its end", id).
			WithHint("the log of the service has the cause; the next sweep tries again").Because(err)
	}
	s.tell(ctx, p, err, dryRun)
	return p
}

// fates are what the registry knows of a project's versions.
func (s *Service) fates(ctx context.Context, project string) (map[string]svc.Brief, map[string]branch.Fate, error) {
	briefs, err := s.deps.Registry.Briefs(ctx, project)
	if err != nil {
		return nil, nil, err
	}
	known, fates := map[string]svc.Brief{}, map[string]branch.Fate{}
	for _, b := range briefs {
		known[b.ID] = b
		fates[b.ID] = branch.Fate{Wanted: wanted(b), Forked: b.ForkTXID != ""}
	}
	return known, fates, nil
}

// wanted tells whether the data of a version is for anything: neither a failed
// nor a destroyed one ever serves again.
func wanted(b svc.Brief) bool {
	return b.Status != svc.StatusFailed && b.Status != svc.StatusDestroyed
}

// tell writes to log and metrics what was done to a project.
func (s *Service) tell(ctx context.Context, p svc.GCProject, err error, dryRun bool) {
	if dryRun {
		return
	}
	log := s.log.With("project", p.ID)
	gone, pinned := sums(p)
	if gone.Objects > 0 {
		s.deps.Observer.GCDeleted(gone.Objects, gone.Bytes)
		log.InfoContext(ctx, "objects that nobody needs were deleted", "objects", gone.Objects, "bytes", gone.Bytes)
	}
	if len(p.Marked) > 0 {
		log.InfoContext(ctx, "data of failed, destroyed or unknown versions is given up", "versions", p.Marked)
	}
	for _, b := range p.Broken {
		if b.Code == codeOwnerChanged { // nothing is wrong: the next sweep looks again
			continue
		}
		log.ErrorContext(ctx, "a version keeps all its objects", "version", b.Ref.Version, "code", b.Code, "reason", b.Detail)
	}
	if err != nil && ctx.Err() == nil {
		log.ErrorContext(ctx, "a project was not swept", "error", err)
	}
	if err == nil {
		s.mu.Lock()
		s.pinned[p.ID] = pinned.Bytes
		s.mu.Unlock()
	}
}

// sweepDone notes a sweep of all projects, if none of them failed.
func (s *Service) sweepDone(report *svc.GCReport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	there := map[string]bool{}
	for _, p := range report.Projects {
		if p.Err != nil {
			return
		}
		there[p.ID] = true
	}
	var pinned int64
	for id, bytes := range s.pinned {
		if there[id] {
			pinned += bytes
		} else {
			delete(s.pinned, id)
		}
	}
	s.lastSweep = time.Now()
	s.deps.Observer.GCSweepDone(pinned, s.lastSweep)
}

func sums(p svc.GCProject) (gone, pinned svc.Amount) {
	for _, v := range p.Versions {
		gone, pinned = gone.Plus(v.Gone), pinned.Plus(v.Pinned)
	}
	return gone, pinned
}

// projectOf is what a sweep reports, in words that all surfaces know.
func projectOf(id string, r *branch.Report, known map[string]svc.Brief) svc.GCProject {
	p := svc.GCProject{ID: id}
	if r == nil {
		return p
	}
	for _, u := range r.Versions {
		v := svc.GCVersion{
			ID: u.Version.Version, Status: known[u.Version.Version].Status, Data: string(u.State),
			Live: u.Live, Pinned: u.Pinned, Waiting: u.Waiting, Left: u.Left, Gone: u.Gone, Other: u.Other,
		}
		for _, pin := range u.PinnedBy {
			v.PinnedBy = append(v.PinnedBy, svc.GCPin{Version: pin.By.Version, Amount: pin.Amount})
		}
		p.Versions = append(p.Versions, v)
		if err := r.Broken[u.Version]; err != nil {
			p.Broken = append(p.Broken, broken(u.Version, err))
		}
	}
	for _, v := range r.Marked {
		p.Marked = append(p.Marked, v.Version)
	}
	for _, v := range r.Removed {
		p.Removed = append(p.Removed, v.Version)
	}
	return p
}

// broken says why a sweep left a version alone.
func broken(v svc.Ref, err error) svc.StoreProblem {
	p := svc.StoreProblem{Code: codeUnreadable, Ref: v, Detail: err.Error()}
	switch {
	case errors.Is(err, branch.ErrManifestLost):
		p.Code = codeManifestMissing
	case errors.Is(err, branch.ErrNotRestorable):
		p.Code = codeNotRestorable
	case errors.Is(err, branch.ErrLost):
		p.Code = codeOwnerChanged
	}
	return p
}
