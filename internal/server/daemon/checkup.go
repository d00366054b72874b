package daemon

import (
	"context"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/host/confine"
	"github.com/svcctl/svcctl/internal/host/provision"
	"github.com/svcctl/svcctl/internal/lib/machine"
	"github.com/svcctl/svcctl/internal/server/upkeep/checkup"
)

// newCheckup returns the checks of the installation.
func (d *Daemon) newCheckup() *checkup.Service {
	store := "the embedded object store"
	if d.objects.embedded == nil {
		store = d.cfg.S3.Endpoint
	}
	files := fileLimit()
	checks := []checkup.Check{
		checkup.Addresses(d.info.Gateway, d.cfg.BaseDomain, d.ingress.HostPattern(), d.cfg.OnLoopback(), d.orders != nil),
		checkup.Disk(d.cfg.DataDir, machine.DiskOf),
		checkup.Descriptors(files, d.cfg.Clients.Total, clientLimits(d.cfg.Clients, files).Total),
		checkup.Groups(d.groups.controllers(), d.groups.why),
		checkup.Confinement(d.cfg.WorkerConfine, confine.Supported(), d.cfg.Isolates, d.cfg.Hosts.Remote),
		checkup.Clock(d.cfg.S3.Endpoint, &http.Client{Timeout: 10 * time.Second}, time.Now),
		checkup.Store(d.objects.runtime, "probe", store),
		checkup.Workerd(d.workerd, provision.Pinned().VersionLine, func(ctx context.Context) (string, error) {
			return provision.Find(ctx, WorkerdOptions(d.cfg, nil))
		}),
	}
	if trouble := d.tokensTrouble(); trouble != nil {
		checks = append(checks, checkup.Tokens(trouble))
	}
	return checkup.New(checks...)
}
