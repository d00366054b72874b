package daemon

import (
	"context"

	"github.com/svcctl/svcctl/internal/server/sleep"
)

func (d *Daemon) newSleep() *sleep.Service {
	return sleep.New(sleep.Config{
		After: d.cfg.Sleep.Idle, Production: d.cfg.Sleep.Production,
		Versions: d.registry, Runtimes: d.deploy, Hosts: d.supervisor, Gateway: d.gateway, Logger: d.logger,
	})
}

// startSleep starts versions that sleep when their own work is due. Stop of the service
// follows from startServices.
func (d *Daemon) startSleep(ctx context.Context) error { return d.sleep.Start(ctx) }
