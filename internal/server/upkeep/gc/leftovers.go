package gc

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// leftovers finds files that should have been deleted: no version has needed them for
// the grace and two more sweeps. It also reports versions with data that the registry
// does not have; their data is kept.
func (p *projectAudit) leftovers(ctx context.Context) ([]svc.StoreProblem, error) {
	if p.held {
		return nil, nil // sweeps skip the project
	}
	if err := p.findReleased(ctx); err != nil {
		return nil, err
	}
	var found verdict
	for _, v := range p.withFiles() {
		found.ref = v
		stays, err := p.stays(ctx, &found)
		if err != nil {
			return nil, err
		}
		if stays {
			continue
		}
		if err := p.overdue(ctx, &found); err != nil {
			return nil, err
		}
	}
	return found.problems, nil
}

// stays reports whether sweeps keep the data of an unwanted version, and adds a
// problem for it.
func (p *projectAudit) stays(ctx context.Context, found *verdict) (bool, error) {
	b, known := p.briefs[found.ref.Version]
	if known && wanted(b) {
		return false, nil
	}
	r, err := p.deps.Records.Record(ctx, found.ref)
	if err != nil || r == nil || r.State == branch.StateDestroying {
		return false, err
	}
	detail := "the registry does not have the version; its data is kept"
	if known {
		if p.deps.Node == "" || r.Owner == "" || svc.DaemonOf(r.Owner) == p.deps.Node {
			return false, nil // the next sweep marks it
		}
		detail = "another node owns its data, while its status here is " + string(b.Status) + "; its data is kept"
	}
	found.add(svc.CodeVersionUnknown, "", found.ref.String()+"/", detail)
	return true, nil
}

// withFiles returns the versions with log files.
func (p *projectAudit) withFiles() (refs []svc.Ref) {
	for prefix := range p.there.databases {
		v, _ := split(prefix)
		refs = append(refs, v)
	}
	slices.SortFunc(refs, func(a, b svc.Ref) int { return strings.Compare(a.Version, b.Version) })
	return slices.Compact(refs)
}

// findReleased reads the manifests of versions that recently became unwanted or were
// never opened: their inherited files have a grace, too.
func (p *projectAudit) findReleased(ctx context.Context) error {
	until := map[svc.Ref]time.Time{}
	for id, b := range p.briefs {
		if !wanted(b) && time.Since(b.UpdatedAt) < p.keepLimit() {
			until[svc.Ref{Project: p.id, Version: id}] = b.UpdatedAt
		}
	}
	for v, stored := range p.there.manifests {
		if _, known := p.briefs[v.Version]; !known {
			until[v] = stored.Add(p.deps.Branches.Grace())
		}
	}
	for v, at := range until {
		m, err := p.deps.Records.Load(ctx, v)
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		for _, base := range m.Databases {
			for _, f := range base.Files {
				p.released[nameOf(f)] = later(p.released[nameOf(f)], at)
			}
		}
	}
	return nil
}

// keepLimit returns how long an unneeded file may exist: the grace and two sweeps,
// with their jitter and duration.
func (p *projectAudit) keepLimit() time.Duration {
	return p.deps.Branches.Grace() + 2*(p.deps.Every+p.deps.Every/10) + time.Minute
}

// overdue reports files of a version that should have been deleted.
func (p *projectAudit) overdue(ctx context.Context, found *verdict) error {
	var late []branch.File
	for _, files := range p.there.own(found.ref) {
		newest := newestCommit(files)
		for _, f := range files {
			if since, unwanted := p.unwantedSince(found.ref, f, newest); unwanted && time.Since(since) > p.keepLimit() {
				late = append(late, f)
			}
		}
	}
	if len(late) == 0 {
		return nil
	}
	slices.SortFunc(late, func(a, b branch.File) int { return strings.Compare(a.Key(), b.Key()) })
	still, err := objstore.ListAll(ctx, p.deps.Data, late[0].Key())
	if err != nil {
		return fmt.Errorf("listing %s: %w", late[0].Key(), err)
	}
	if len(still) == 0 {
		return nil // a sweep is deleting them
	}
	found.add(svc.CodeOverdue, "", late[0].Key(), "no version has needed it for more than "+p.keepLimit().String(), late[1:]...)
	return nil
}

// unwantedSince reports whether no version needs a file of v, and the latest time
// since when, which is not before the start of this process.
func (p *projectAudit) unwantedSince(v svc.Ref, f branch.File, newest uint64) (since time.Time, unwanted bool) {
	n := nameOf(f)
	since, dead := p.there.dead[n]
	b, known := p.briefs[v.Version]
	switch {
	case p.inherited[n] || p.broken[v]:
		return since, false
	case known && wanted(b) && f.Level >= historyLevel && len(p.there.history[f.Prefix]) > 0:
		return since, false // the points of the version may need it
	case known && wanted(b) && (!dead || f.Level == 0 && f.Max == newest):
		return since, false
	case !dead && known:
		since = b.UpdatedAt
	case !dead:
		since = f.Modified
	}
	return later(later(since, p.released[n]), p.started), true
}

// historyLevel is the lowest level of merged files that sweeps keep for points of the past.
const historyLevel = 2

// newestCommit returns the newest transaction that has its own file.
func newestCommit(files []branch.File) (txid uint64) {
	for _, f := range files {
		if f.Level == 0 {
			txid = max(txid, f.Max)
		}
	}
	return txid
}
