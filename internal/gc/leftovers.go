package gc

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// leftovers finds what should have gone: files that nobody has needed for the
// grace and two sweeps more. It also names versions with data that the registry
// does not know; they stay.
func (p *projectAudit) leftovers(ctx context.Context) ([]svc.StoreProblem, error) {
	if p.held {
		return nil, nil // sweeps leave the whole project alone
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

// stays tells whether sweeps keep a version although the registry does not want
// it, and says so.
func (p *projectAudit) stays(ctx context.Context, found *verdict) (bool, error) {
	b, known := p.briefs[found.ref.Version]
	if known && wanted(b) {
		return false, nil
	}
	r, err := p.deps.Records.Record(ctx, found.ref)
	if err != nil || r == nil || r.State == branch.StateDestroying {
		return false, err
	}
	detail := "it has data, and the registry does not know it: nothing of it is deleted"
	if known {
		if p.deps.Host == "" || r.Owner == "" || r.Owner == p.deps.Host {
			return false, nil // the next sweep marks it
		}
		detail = "another host owns its data, while it is " + string(b.Status) + " here: nothing of it is deleted"
	}
	found.add(codeUnknown, "", found.ref.String()+"/", detail)
	return true, nil
}

// withFiles names the versions that have log files.
func (p *projectAudit) withFiles() (refs []svc.Ref) {
	for prefix := range p.there.stores {
		v, _ := split(prefix)
		refs = append(refs, v)
	}
	slices.SortFunc(refs, func(a, b svc.Ref) int { return strings.Compare(a.Version, b.Version) })
	return slices.Compact(refs)
}

// findReleased reads the manifests of versions that went a short while ago, or
// that nobody has opened: sweeps give what they had inherited a grace as well.
func (p *projectAudit) findReleased(ctx context.Context) error {
	until := map[svc.Ref]time.Time{}
	for id, b := range p.briefs {
		if !wanted(b) && time.Since(b.UpdatedAt) < p.patience() {
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
		for _, base := range m.Stores {
			for _, f := range base.Files {
				p.released[nameOf(f)] = later(p.released[nameOf(f)], at)
			}
		}
	}
	return nil
}

// patience is how long what nobody needs may be there: the grace and two sweeps,
// each of which may be late by its jitter and by what it takes.
func (p *projectAudit) patience() time.Duration {
	return p.deps.Branches.Grace() + 2*(p.deps.Every+p.deps.Every/10) + time.Minute
}

// overdue complains about files of a version that should have gone.
func (p *projectAudit) overdue(ctx context.Context, found *verdict) error {
	var late []branch.File
	for _, files := range p.there.own(found.ref) {
		newest := newestCommit(files)
		for _, f := range files {
			if since, unwanted := p.unwantedSince(found.ref, f, newest); unwanted && time.Since(since) > p.patience() {
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
		return fmt.Errorf("look at %s: %w", late[0].Key(), err)
	}
	if len(still) == 0 {
		return nil // a sweep is at it
	}
	found.add(codeOverdue, "", late[0].Key(), "nobody has needed it for more than "+p.patience().String(), late[1:]...)
	return nil
}

// unwantedSince tells whether nobody needs a file of v, and since when at least,
// as far as this process could know.
func (p *projectAudit) unwantedSince(v svc.Ref, f branch.File, newest uint64) (since time.Time, unwanted bool) {
	n := nameOf(f)
	since, buried := p.there.buried[n]
	b, known := p.briefs[v.Version]
	switch {
	case p.inherited[n] || p.sick[v]:
		return since, false
	case known && wanted(b) && (!buried || f.Level == 0 && f.Max == newest):
		return since, false
	case !buried && known:
		since = b.UpdatedAt
	case !buried:
		since = f.Modified
	}
	return later(later(since, p.released[n]), p.started), true
}

// newestCommit is the newest transaction that has a file of its own.
func newestCommit(files []branch.File) (txid uint64) {
	for _, f := range files {
		if f.Level == 0 {
			txid = max(txid, f.Max)
		}
	}
	return txid
}
