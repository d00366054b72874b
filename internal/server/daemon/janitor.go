package daemon

import (
	"context"

	"github.com/svcctl/svcctl/internal/server/upkeep/gc"
	"github.com/svcctl/svcctl/internal/server/upkeep/janitor"
)

// newJanitor creates the periodic tasks, which startWork starts.
func (d *Daemon) newJanitor() (err error) {
	requests := janitor.Requests(d.gateway, d.registry)
	tasks := []janitor.Task{
		janitor.Sweep(d.gc, d.cfg.GCEvery),
		janitor.Audit(d.gc, d.cfg.GCEvery),
		janitor.Cleanup(d.lifecycle.Get()),
		janitor.Events(d.registry),
		janitor.Retention(d.retention),
		janitor.Health(checked{d}, d.feed.Publish),
		janitor.Previews(d.previews),
		requests,
	}
	if d.domains != nil {
		tasks = append(tasks, janitor.Domains(d.domains))
	}
	if idle := d.cfg.Archive.IdleAfter(); idle > 0 {
		tasks = append(tasks, janitor.Idle(d.lifecycle.Get(), idle))
	}
	if after := d.cfg.Sleep.Idle; after > 0 {
		tasks = append(tasks, janitor.Sleep(d.sleep.Get(), after))
	}
	if after := d.pageOutAfter(); after > 0 {
		tasks = append(tasks, janitor.PageOut(d.sleep.Get(), after))
	}
	if d.cfg.RecycleMB > 0 {
		tasks = append(tasks, janitor.Recycle(d.sleep.Get()))
	}
	d.janitor, err = janitor.New(d.logger, d.metrics, tasks...)
	d.stops.Push("request times", func(ctx context.Context) error { // a last time, after the gateway has stopped
		if err := requests.RunOnce(ctx); err != nil {
			d.logger.WarnContext(ctx, "writing the times of last requests failed", "error", err)
		}
		return nil
	})
	return err
}

func (d *Daemon) gcDeps() gc.Deps {
	return gc.Deps{
		Node: d.ownership.node(), Branches: d.ownership.branches, Records: d.ownership.branches, Data: d.ownership.data, Assets: d.assets,
		Registry: d.registry, Logger: d.logger, Observer: d.metrics, Every: d.cfg.GCEvery,
		Publish: d.feed.Publish, History: d.cfg.History, KeepHistory: d.keepHistory,
	}
}
