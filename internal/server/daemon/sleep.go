package daemon

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/lib/pageout"
	"github.com/svcctl/svcctl/internal/server/versions/sleep"
)

func (d *Daemon) newSleep() *sleep.Service {
	return sleep.New(sleep.Config{
		After: d.cfg.Sleep.Idle, Production: d.cfg.Sleep.Production,
		PageOutAfter: d.pageOutAfter(), RecycleBytes: int64(d.cfg.RecycleMB) << 20,
		Versions: d.registry, Runtimes: d.deploy.Get(), Hosts: d.supervisor, Gateway: d.gateway, Logger: d.logger, Observer: d.metrics,
	})
}

// pageOutAfter is the time without use after which the memory of a version is moved to swap, 0
// for never.
func (d *Daemon) pageOutAfter() time.Duration {
	if p := d.cfg.PageOut; !p.Auto || pageout.HasSwap() {
		return p.Idle
	}
	return 0
}

// startSleep starts versions that sleep when their own work is due. Stop of the service
// follows from startServices.
func (d *Daemon) startSleep(ctx context.Context) error { return d.sleep.Get().Start(ctx) }
