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
	idleVersions = 8 // several, so that what versions share is not counted
	idleRequests = 5 // that each has answered
	idleTime     = 5 * time.Second
	memoryGoal   = 12.0 // MiB
)

// memory: what one more idle version costs, host and workerd together.
func memory(ctx context.Context, b *bench) ([]row, error) {
	daemon, routes, err := b.idleVersions(ctx)
	if err != nil {
		return nil, err
	}
	defer daemon.Stop()
	bare, err := b.peers.Bare(ctx, "hello")
	if err != nil {
		return nil, err
	}
	defer bare.Stop()
	targets := []load.Target{bare.Target}
	for _, r := range routes {
		t, err := daemon.Host(r.Host)
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	if err := settle(ctx, targets); err != nil {
		return nil, err
	}
	return memoryRow(bare.PID, routes)
}

// idleVersions deploys hello world several times. The caller stops the daemon.
func (b *bench) idleVersions(ctx context.Context, env ...string) (*ours.Daemon, []api.Route, error) {
	daemon, err := b.program.StartWith(ctx, env...)
	if err != nil {
		return nil, nil, err
	}
	routes, err := deployIdle(ctx, daemon)
	if err != nil {
		daemon.Stop()
		return nil, nil, err
	}
	return daemon, routes, nil
}

func deployIdle(ctx context.Context, daemon *ours.Daemon) ([]api.Route, error) {
	uploads, err := daemon.Uploads(ctx, "hello")
	if err != nil {
		return nil, err
	}
	for i := range idleVersions {
		if _, err := uploads.Deploy(ctx, fmt.Sprintf("v%d", i)); err != nil {
			return nil, err
		}
	}
	page, err := daemon.Client.Routes(ctx)
	return page.Items, err
}

// settle has everything answer a few requests, and then be idle.
func settle(ctx context.Context, targets []load.Target) error {
	for _, t := range targets {
		for range idleRequests {
			if err := load.Once(ctx, t, "/"); err != nil {
				return err
			}
		}
	}
	return wait(ctx, idleTime)
}

func memoryRow(bare int, routes []api.Route) ([]row, error) {
	var hosts, workers, both []float64
	for _, r := range routes {
		if r.Role != api.RouteRolePreview {
			continue
		}
		children, err := proc.Children(r.PID)
		if err != nil {
			return nil, err
		}
		host, err := unshared(r.PID)
		if err != nil {
			return nil, err
		}
		worker, err := unshared(children...)
		if err != nil {
			return nil, err
		}
		hosts, workers, both = append(hosts, host), append(workers, worker), append(both, host+worker)
	}
	alone, err := unshared(bare)
	if err != nil {
		return nil, err
	}
	program, err := proc.Program(routes[0].PID) // svchost only if it is of the same build
	if err != nil {
		return nil, err
	}
	return []row{row{
		what:   fmt.Sprintf("unshared memory of an idle version, hello world (median of %d)", len(both)),
		ours:   fmt.Sprintf("%.1f MiB (%s %.1f, workerd %.1f)", median(both), program, median(hosts), median(workers)),
		beside: fmt.Sprintf("bare workerd %.1f MiB", alone), ratio: fmt.Sprintf("%.2fx", median(both)/alone),
	}.atMost(median(both), memoryGoal, " MiB")}, nil
}

// unshared is the sum over processes, in MiB.
func unshared(pids ...int) (float64, error) {
	var sum int64
	for _, pid := range pids {
		n, err := proc.Unshared(pid)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return float64(sum) / (1 << 20), nil
}
