package daemon

import (
	"context"
	"errors"

	"github.com/svcctl/svcctl/internal/svc"
)

// keepHistory is how long the points of a project are kept: as the bundle of its production says, within
// SVC_HISTORY. No other version is asked: else a pull request could end the history.
func (d *Daemon) keepHistory(ctx context.Context, project string) (svc.History, error) {
	if d.cfg.History.Off() {
		return svc.History{}, nil // the bundle need not be read
	}
	p, err := d.registry.Project(ctx, project)
	if errors.Is(err, svc.NotFound) || err == nil && p.ProdVersionID == "" {
		return d.cfg.History, nil
	}
	if err != nil {
		return svc.History{}, err
	}
	m, err := d.deploy.Get().Manifest(ctx, svc.Ref{Project: project, Version: p.ProdVersionID})
	return m.History(d.cfg.History), err
}
