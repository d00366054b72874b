package deploy

import (
	"context"
	"errors"
	"fmt"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// fetch brings the bundle into the cache and stores its digest. A repeat finds the
// bundle in the cache.
func (r *run) fetch(ctx context.Context) (string, error) {
	b, err := r.ensureBundle(ctx)
	if err != nil {
		return "", err
	}
	if err := r.checkCallees(ctx); err != nil {
		return "", err
	}
	if err := r.checkClasses(ctx); err != nil {
		return "", err
	}
	if r.v.Digest == "" { // not given: computed and stored [D41]
		r.v.Digest = b.digest
	}
	if err := r.deps.Versions.SetArtifact(ctx, r.v.Ref, r.v.Digest, b.size); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d bytes, %s", b.size, b.digest), nil
}

// checkCallees rejects a worker that calls one that does not exist.
func (r *run) checkCallees(ctx context.Context) error {
	if r.deps.Callees == nil {
		return nil
	}
	m, err := bundle.Load(r.bundleDir)
	if err != nil {
		return err
	}
	return r.deps.Callees.Check(ctx, r.v.Ref, &m)
}

// unpacked ensures in the steps after fetching that the bundle is on disk: the
// cache may have been deleted while the daemon was stopped.
func (r *run) unpacked(ctx context.Context) error {
	if r.bundleDir != "" {
		return nil
	}
	_, err := r.ensureBundle(ctx)
	return err
}

func (r *run) ensureBundle(ctx context.Context) (unpacked, error) {
	b, err := r.bundles.ensure(ctx, r.v, func(err error) error {
		if !r.deps.Lenient {
			return err
		}
		return r.tolerate(ctx, string(svc.StatusFetching), err)
	})
	var later *laterError
	if errors.As(err, &later) && ctx.Err() == nil {
		return unpacked{}, r.notYet(ctx, later)
	}
	if err != nil {
		return b, err
	}
	r.bundleDir = b.dir
	return b, r.recordVars(ctx)
}

// recordVars records the variables of the bundle, so that they can be listed when the
// bundle is not on the disk.
func (r *run) recordVars(ctx context.Context) error {
	m, err := bundle.Load(r.bundleDir)
	if err != nil {
		return err
	}
	vars := make(map[string]string, len(m.Vars))
	for name, v := range m.Vars {
		if v.Text != nil {
			vars[name] = *v.Text
		} else {
			vars[name] = string(v.JSON)
		}
	}
	return r.deps.Versions.SetBundleEnv(ctx, r.v.Ref, vars)
}
