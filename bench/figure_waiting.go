package main

import (
	"context"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/ours"
	"github.com/svcctl/svcctl/bench/internal/proc"
	"github.com/svcctl/svcctl/pkg/api"
)

const (
	waitingVersions = 50
	waitingSettle   = 150 * time.Second // what a version writes at its start is merged after a minute or two
	waitingGoal     = 0.5               // % of a processor
)

// waiting: versions with a cron trigger, a queue and a workflow that sleeps, and nothing is
// due. The object store is in a process of its own and does not count.
func waiting(ctx context.Context, b *bench) ([]row, error) {
	store, err := b.program.Store(ctx)
	if err != nil {
		return nil, err
	}
	defer store.Stop()
	daemon, err := b.program.StartOn(ctx, store)
	if err != nil {
		return nil, err
	}
	defer daemon.Stop()
	if err := deployWaiting(ctx, daemon); err != nil {
		return nil, err
	}
	routes, err := daemon.Client.Routes(ctx)
	if err != nil {
		return nil, err
	}
	if err := wait(ctx, waitingSettle); err != nil {
		return nil, err
	}
	before, err := workedBy(daemon.PID, routes.Items)
	if err != nil {
		return nil, err
	}
	requests := store.Requests()
	if err := wait(ctx, idleWatch); err != nil {
		return nil, err
	}
	after, err := workedBy(daemon.PID, routes.Items)
	if err != nil {
		return nil, err
	}
	share := func(a, b time.Duration) float64 { return 100 * float64(b-a) / float64(idleWatch) }
	total := share(before.sum(), after.sum())
	return []row{
		row{
			what: fmt.Sprintf("%d versions with a cron, a queue and a workflow that sleeps: share of a processor", waitingVersions),
			ours: fmt.Sprintf("%.2f %% (daemon %.2f, worker hosts %.2f, workerd %.2f)", total, share(before.daemon, after.daemon), share(before.hosts, after.hosts), share(before.workers, after.workers)),
		}.atMost(total, waitingGoal, " %"),
		{what: "their requests to the store in a minute", ours: fmt.Sprint(store.Requests() - requests)},
	}, nil
}

// deployWaiting deploys the versions and gives each a message and a workflow.
func deployWaiting(ctx context.Context, d *ours.Daemon) error {
	uploads, err := d.Uploads(ctx, "waiting")
	if err != nil {
		return err
	}
	for i := range waitingVersions {
		name := fmt.Sprintf("v%d", i)
		if _, err := uploads.Deploy(ctx, name); err != nil {
			return err
		}
		v, err := d.Client.Version(ctx, uploads.Project(), name)
		if err != nil {
			return err
		}
		target, err := uploads.Preview(v)
		if err == nil {
			err = load.Once(ctx, target, "/")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// work is the processor time of the parts of a server.
type work struct{ daemon, hosts, workers time.Duration }

func (w work) sum() time.Duration { return w.daemon + w.hosts + w.workers }

func workedBy(daemon int, routes []api.Route) (w work, err error) {
	w.daemon, err = proc.Worked(daemon)
	for _, r := range routes {
		if err != nil || r.Role != api.RouteRolePreview {
			continue
		}
		var host, all time.Duration
		if host, err = proc.Worked(r.PID); err == nil {
			all, err = proc.WorkedAll(r.PID)
		}
		w.hosts, w.workers = w.hosts+host, w.workers+all-host
	}
	return w, err
}
