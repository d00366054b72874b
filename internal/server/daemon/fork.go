package daemon

import (
	"context"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/all"
	"github.com/svcctl/svcctl/internal/server/versions/divergence"
	"github.com/svcctl/svcctl/internal/server/versions/fork"
	"github.com/svcctl/svcctl/internal/svc"
)

func (d *Daemon) forkDeps() fork.Deps {
	return fork.Deps{
		Versions: d.registry, Runtimes: d.supervisor, Records: d.ownership.branches, Observer: d.metrics,
		Awake:     func(ctx context.Context, ref svc.Ref) error { return d.sleep.Get().Awake(ctx, ref) },
		Dirs:      fork.Dirs{Data: d.dirs.versions(), Logs: d.dirs.logs()},
		CutStored: d.cutStored,
	}
}

func (d *Daemon) cutStored(ctx context.Context, ref svc.Ref) (map[string]branch.Cut, error) {
	return dataplane.CutStored(ctx, dataplane.Config{Ref: ref, Bucket: d.ownership.data, Branches: d.ownership.branches, Logger: d.logger})
}

func (d *Daemon) divergenceDeps() divergence.Deps {
	return divergence.Deps{
		Registry: d.registry, Runtimes: d.supervisor, Records: d.ownership.branches, Bucket: d.ownership.data, CutStored: d.cutStored, Logger: d.logger,
		HoldLimit: d.cfg.Release.Hold, Forks: d.cfg.Forks, Tables: binding.Records(all.Kinds()),
		Waiting: func(ctx context.Context, ref svc.Ref) svc.Waiting { return d.sleep.Get().Waiting(ctx, ref) },
	}
}
