package deploy

import (
	"context"
	"fmt"

	"github.com/svcctl/svcctl/internal/svc"
)

// fetch brings the bundle into the cache and stores its digest. Again: the
// bundle is there already.
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

// unpacked makes sure that the bundle is on disk in the steps after fetching:
// the cache may have been emptied while the daemon was down.
func (r *run) unpacked(ctx context.Context) error {
	if r.bundleDir != "" {
		return nil
	}
	_, err := r.ensureBundle(ctx)
	return err
}

func (r *run) ensureBundle(ctx context.Context) (unpacked, error) {
	b, err := r.bundles.ensure(ctx, r.v, r.patience, func(err error) error {
		if !r.deps.Lenient {
			return err
		}
		return r.tolerate(ctx, string(svc.StatusFetching), err)
	})
	if err == nil {
		r.bundleDir = b.dir
	}
	return b, err
}
