package daemon

import (
	"context"

	"github.com/svcctl/svcctl/internal/svc"
)

// keepHistory is how long the points of a project are kept, within SVC_HISTORY.
func (d *Daemon) keepHistory(ctx context.Context, project string) (svc.History, error) {
	if d.cfg.History.Off() {
		return svc.History{}, nil // the bundle need not be read
	}
	return d.deploy.Get().KeepHistory(ctx, project, d.cfg.History)
}
