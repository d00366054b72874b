package deploy

import (
	"context"
	"errors"
	"fmt"

	"github.com/svcctl/svcctl/internal/svc"
)

// fetch brings the bundle into the cache and stores its digest. A repeat finds the
// bundle in the cache.
func (r *run) fetch(ctx context.Context) (string, error) {
	b, err := r.ensureBundle(ctx)
	if err != nil {
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
	r.bundleDir = b.dir
	return b, err
}
