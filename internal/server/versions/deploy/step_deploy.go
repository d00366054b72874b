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
	if r.beginsAsleep() {
		return r.layDown(ctx)
	}
	endpoint, err := r.serve(ctx)
	if err != nil {
		return "", err
	}
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

// serve starts the worker, unless an earlier step has done so in this process.
func (r *run) serve(ctx context.Context) (svc.Endpoint, error) {
	if err := r.open(ctx); err != nil {
		return svc.Endpoint{}, err
	}
	endpoint, err := r.deps.Runtimes.Serve(ctx, r.v.Ref)
	if err == nil {
		r.routes.started(r.v.Ref, &endpoint)
	}
	return endpoint, err
}

// askAsProduction qualifies a version: its worker answers a request with production's
// host name, on the way that requests take. Visitors do not reach it yet.
func (r *run) askAsProduction(ctx context.Context) (string, error) {
	if r.beginsAsleep() {
		return "begins asleep", nil
	}
	if _, err := r.serve(ctx); err != nil {
		return "", err
	}
	if err := r.qualify.check(ctx, r.v.Ref); err != nil {
		return "", err
	}
	return "answered as " + r.deps.Ingress.ProdHost(r.v.Project), nil
}
