package daemon

import (
	"context"
	"errors"
	"time"

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
		CutStored: d.cutStored, CutPast: d.cutPast,
	}
}

func (d *Daemon) cutStored(ctx context.Context, ref svc.Ref) (map[string]branch.Cut, error) {
	return dataplane.CutStored(ctx, dataplane.Config{Ref: ref, Bucket: d.ownership.data, Branches: d.ownership.branches, Logger: d.logger})
}

// cutPast cuts a version in its own past. The past before its fork is its parent's, to which other rules may apply
// (SVC_PROD_FORK), so that has to be asked for by its name.
func (d *Daemon) cutPast(ctx context.Context, ref svc.Ref, t time.Time) (map[string]branch.Cut, time.Time, error) {
	keep, err := d.keepHistory(ctx, ref.Project)
	if err != nil {
		return nil, time.Time{}, err
	}
	if keep.Off() {
		return nil, time.Time{}, svc.HistoryOff()
	}
	past, err := dataplane.OpenPast(ctx, dataplane.Config{Ref: ref, Bucket: d.ownership.data, Branches: d.ownership.branches, Logger: d.logger}, keep)
	if err != nil {
		return nil, time.Time{}, err
	}
	cut, err := past.Own(ctx, t)
	if errors.Is(err, dataplane.ErrNoHistory) {
		return nil, time.Time{}, noPoint(ref, t, past)
	}
	return cut.Databases, cut.At, err
}

// noPoint says since when the past of a version is kept.
func noPoint(ref svc.Ref, t time.Time, past *dataplane.Past) error {
	err := svc.Errorf(svc.Unprocessable, svc.CodeHistoryMissing, "the data of %s at %s is not kept", ref, t.UTC().Format(time.RFC3339))
	switch parent, since := past.Begins(); {
	case parent.Version != "" && t.Before(since):
		return err.WithHint("%s was forked from %s at %s: name %s for what was before", ref, parent, since.UTC().Format(time.RFC3339), parent)
	case !since.IsZero():
		return err.WithHint("its oldest point is of %s", since.UTC().Format(time.RFC3339))
	}
	return err.WithHint("it has no point yet: one follows each second in which it writes")
}

func (d *Daemon) divergenceDeps() divergence.Deps {
	return divergence.Deps{
		Registry: d.registry, Runtimes: d.supervisor, Records: d.ownership.branches, Bucket: d.ownership.data, CutStored: d.cutStored, Logger: d.logger,
		HoldLimit: d.cfg.Release.Hold, Forks: d.cfg.Forks, Tables: binding.Records(all.Kinds()),
		Waiting: func(ctx context.Context, ref svc.Ref) svc.Waiting { return d.sleep.Get().Waiting(ctx, ref) },
	}
}
