package hostmain

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/all"
	"github.com/svcctl/svcctl/internal/host/workerhost"
	"github.com/svcctl/svcctl/internal/svc"
)

// opener opens the data of the one version of this process.
type opener struct {
	log      *slog.Logger
	requests *counts
	ahead    *dataplane.Ahead // nil unless the version was staged
}

// stage is workerhost.Options.Stage. What it cannot read, open reads.
func (o *opener) stage(ctx context.Context, s svc.RuntimeSpec) {
	var err error
	if o.ahead, err = readAhead(ctx, s, o.log, o.requests.add); err != nil {
		o.log.InfoContext(ctx, "the data of the parent is not read ahead", "error", err)
	}
}

// open is workerhost.Options.Open.
func (o *opener) open(ctx context.Context, s svc.RuntimeSpec, m *bundle.Manifest, lost func(error)) (workerhost.Resources, error) { //nolint:ireturn // what Options takes
	if limit := int64(s.Host.MemoryMB) << 20; limit > 0 {
		debug.SetMemoryLimit(limit / 2) // the collector works harder above it
	}
	volumes, err := o.openVolumes(ctx, s, m, lost)
	if err != nil {
		return nil, err
	}
	set, err := binding.OpenAll(ctx, all.KindsOf(s), m, volumes)
	if err != nil {
		return nil, errors.Join(err, volumes.Close()) //nolint:contextcheck // what was begun is ended
	}
	set.SetSecrets(secretNames(s, m))
	r := resources{set, volumes, nil, o.requests, new(seal)}
	if r.objects, err = openObjects(ctx, s, m, volumes, o.log); err != nil {
		return nil, errors.Join(err, r.Close()) //nolint:contextcheck // what was begun is ended
	}
	if err := r.SetReadOnly(ctx, s.ReadOnly); err != nil {
		return nil, errors.Join(err, r.Close()) //nolint:contextcheck // what was begun is ended
	}
	return r, r.SetEvents(ctx, s.BeginsWithEvents()) // until the daemon says otherwise
}

// secretNames returns the names by which the worker has secrets, sorted.
func secretNames(s svc.RuntimeSpec, m *bundle.Manifest) []string {
	filling := svc.FillingSecrets(s.Secrets, func(name string) bool {
		_, overridden := s.Env[name]
		return overridden || m.Names(name)
	})
	return slices.Sorted(maps.Keys(filling))
}

// openVolumes opens the data that s names. It asks nothing of the store yet.
func (o *opener) openVolumes(ctx context.Context, s svc.RuntimeSpec, m *bundle.Manifest, lost func(error)) (*dataplane.Volumes, error) {
	c, err := volumesConfig(s, o.log, o.requests.add)
	if err != nil {
		return nil, err
	}
	c.Revoked, c.Ahead = lost, o.ahead
	c.History = c.History && m.KeepsHistory()
	o.ahead = nil
	return dataplane.Open(ctx, c)
}
