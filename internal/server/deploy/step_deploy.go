package deploy

import (
	"context"
	"fmt"

	"github.com/svcctl/svcctl/internal/svc"
)

// deploy starts the worker and probes it through the gateway, which until the
// transition to ready serves only the probe.
// spec: [C6.10].
func (r *run) deploy(ctx context.Context) (string, error) {
	if err := r.open(ctx); err != nil {
		return "", err
	}
	endpoint, err := r.deps.Runtimes.Serve(ctx, r.v.Ref)
	if err != nil {
		return "", err
	}
	r.routes.started(r.v.Ref, &endpoint)
	if err := r.verify(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("serving on port %d", endpoint.Port), nil
}

func (r *run) verify(ctx context.Context) error {
	if r.probe == nil {
		return nil
	}
	err := r.probe.check(ctx, r.v.Ref)
	if err != nil && ctx.Err() == nil && r.deps.Lenient { // the worker runs, only the probe failed
		return r.tolerate(ctx, string(svc.StatusDeploying), err)
	}
	return err
}
