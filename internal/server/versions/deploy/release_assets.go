package deploy

import (
	"context"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// keepAssets has the new version serve the static files of production whose names carry a hash, for
// as many releases as its bundle says: pages that visitors have open load them later.
func (r *Release) keepAssets(ctx context.Context) error {
	next, err := r.Service.Manifest(ctx, svc.Ref{Project: r.v.Project, Version: r.v.ReleasedFrom})
	if err != nil || next.Keeps() == 0 {
		return err
	}
	production := svc.Ref{Project: r.v.Project, Version: r.v.ParentID}
	before, err := r.Service.Manifest(ctx, production)
	if err != nil {
		return err
	}
	earlier, err := r.deps.Assets.Kept(ctx, production)
	if err != nil {
		return err
	}
	kept := bundle.Keep(next, before, earlier)
	if len(kept.Files) == 0 {
		return nil
	}
	dir, err := r.unpackedOf(ctx, production)
	if err != nil {
		return err
	}
	r.log.InfoContext(ctx, "static files of production stay served", "files", len(kept.Files))
	return r.deps.Assets.Keep(ctx, r.v.Ref, kept, dir)
}

// unpackedOf returns the directory of a version's bundle, and unpacks it if the cache was lost.
func (r *Release) unpackedOf(ctx context.Context, ref svc.Ref) (string, error) {
	v, err := r.deps.Versions.Version(ctx, ref)
	if err != nil {
		return "", err
	}
	if u, ok := r.bundles.cached(ref, ""); ok {
		return u.dir, nil
	}
	own, unlock, err := r.locks.Lock(ctx, ref)
	if err != nil {
		return "", err
	}
	defer unlock()
	u, err := r.bundles.ensure(own, v, func(err error) error { return err })
	return u.dir, err
}
