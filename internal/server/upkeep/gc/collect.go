package gc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/server/versions/assetstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// Collect sweeps one project or all, or with DryRun reports what a sweep would do. If
// it reaches the limit, the report is Incomplete and has the projects swept so far;
// the periodic sweep does the rest.
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
		if p := s.collectProject(ctx, id, req.DryRun); p.Err != nil || len(p.Versions) > 0 || p.Assets != (svc.GCAssets{}) {
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
	if !req.DryRun {
		s.publish(req.Project, report, err)
	}
	return report, err
}

// publish adds the event of a collection of one project, or of all.
func (s *Service) publish(project string, report svc.GCReport, err error) {
	data, total := svc.FeedData{Status: "done"}, svc.Amount{}
	for _, p := range report.Projects {
		gone, _ := sums(p)
		total = total.Plus(gone)
		if p.Err != nil {
			err = cmp.Or(err, p.Err)
		}
	}
	data.Detail = fmt.Sprintf("deleted %d objects, %d bytes", total.Objects, total.Bytes)
	if err != nil {
		data.Status, data.Error = "failed", svc.AsError(err).Detail
	}
	s.deps.Publish(svc.FeedEvent{Type: svc.FeedGC, Project: project, Data: data})
}

// projects returns the projects with objects in the store, or the project only.
func (s *Service) projects(ctx context.Context, only string) ([]string, error) {
	ids, err := s.stored(ctx)
	if err != nil || only == "" {
		return ids, err
	}
	for _, id := range ids {
		if id == only { // also a project that the registry no longer has
			return []string{id}, nil
		}
	}
	_, err = s.deps.Registry.Project(ctx, only)
	return nil, err
}

// stored returns the projects with objects in the store.
func (s *Service) stored(ctx context.Context) ([]string, error) {
	ids, err := s.deps.Branches.Projects(ctx)
	if err == nil {
		var more []string
		more, err = s.deps.Assets.Projects(ctx)
		ids = append(ids, more...)
		slices.Sort(ids)
		ids = slices.Compact(ids)
	}
	if err != nil {
		err = svc.Errorf(svc.Unavailable, svc.CodeStoreUnavailable, "the object store cannot be listed").
			WithHint("read GET /v1/health/deep").Because(err)
	}
	return ids, err
}

// collectProject sweeps one project; one sweep runs at a time.
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
	keep := s.history(ctx, id)
	swept, err := s.deps.Branches.Sweep(ctx, id, branch.SweepOptions{
		DryRun: dryRun, Node: s.deps.Node, History: keep,
		Registry: func(ctx context.Context) (registered map[string]branch.Registered, err error) {
			known, registered, err = s.registered(ctx, id)
			return registered, err
		},
	})
	p := projectOf(id, swept, known)
	if err == nil {
		p.Assets, err = s.collectAssets(ctx, id, dryRun)
	}
	if err != nil {
		p.Err = svc.Errorf(svc.Unavailable, svc.CodeGCFailed, "the collection of project %s did not complete", id).
			WithHint("read the service's log; the next sweep retries").Because(err)
	}
	s.report(ctx, p, err, dryRun)
	return p
}

// collectAssets deletes the static files of a project that no version needs.
func (s *Service) collectAssets(ctx context.Context, project string, dryRun bool) (svc.GCAssets, error) {
	known, _, err := s.registered(ctx, project)
	if err != nil {
		return svc.GCAssets{}, err
	}
	return s.deps.Assets.Collect(ctx, project, assetstore.CollectOptions{
		DryRun: dryRun, Grace: s.deps.Branches.Grace(),
		Ended: func(version string) (time.Time, bool) {
			b, ok := known[version]
			return b.UpdatedAt, ok && !wanted(b)
		},
	})
}

// registered returns the versions of a project in the registry.
func (s *Service) registered(ctx context.Context, project string) (map[string]svc.Brief, map[string]branch.Registered, error) {
	briefs, err := s.deps.Registry.Briefs(ctx, project)
	if err != nil {
		return nil, nil, err
	}
	known, registered := map[string]svc.Brief{}, map[string]branch.Registered{}
	for _, b := range briefs {
		known[b.ID] = b
		registered[b.ID] = branch.Registered{Wanted: wanted(b), Forked: b.ForkTXID != ""}
	}
	return known, registered, nil
}

// wanted reports whether the data of a version is needed: a failed or destroyed
// version never serves again.
func wanted(b svc.Brief) bool {
	return b.Status != svc.StatusFailed && b.Status != svc.StatusDestroyed
}

// report logs and counts the sweep of a project.
func (s *Service) report(ctx context.Context, p svc.GCProject, err error, dryRun bool) {
	if dryRun {
		return
	}
	log := s.log.With("project", p.ID)
	gone, pinned := sums(p)
	if gone.Objects > 0 {
		s.deps.Observer.GCDeleted(gone.Objects, gone.Bytes)
		log.InfoContext(ctx, "deleted unneeded objects", "objects", gone.Objects, "bytes", gone.Bytes)
	}
	if len(p.Marked) > 0 {
		log.InfoContext(ctx, "marked version data for deletion", "versions", p.Marked)
	}
	for _, b := range p.Broken {
		if b.Code == svc.CodeOwnerChanged { // not a problem: the next sweep retries
			continue
		}
		log.ErrorContext(ctx, "version excluded from collection; keeping its objects", "version", b.Ref.Version, "code", b.Code, "reason", b.Detail)
	}
	if err != nil && ctx.Err() == nil {
		log.ErrorContext(ctx, "sweeping a project failed; retrying in the next sweep", "error", err)
	}
	if err == nil {
		s.mu.Lock()
		s.pinned[p.ID] = pinned.Bytes
		s.mu.Unlock()
	}
}

// sweepDone records a sweep of all projects, if none of them failed.
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
	gone = gone.Plus(p.Assets.Gone)
	return gone, pinned
}

// projectOf converts the report of a sweep.
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

// broken returns why a sweep skipped a version.
func broken(v svc.Ref, err error) svc.StoreProblem {
	p := svc.StoreProblem{Code: svc.CodeRecordUnreadable, Ref: v, Detail: err.Error()}
	switch {
	case errors.Is(err, branch.ErrManifestLost):
		p.Code = svc.CodeManifestMissing
	case errors.Is(err, branch.ErrNotRestorable):
		p.Code = svc.CodeNotRestorable
	case errors.Is(err, branch.ErrLost):
		p.Code = svc.CodeOwnerChanged
	}
	return p
}
