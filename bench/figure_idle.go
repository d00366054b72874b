package main

import (
	"context"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/proc"
)

const (
	idleDatabases = 50               // of the fixture
	idleSettle    = 80 * time.Second // the daemon sweeps the store a minute after its start
	idleWatch     = time.Minute
	idleGoal      = 0.1 // % of a processor
)

// idle: a version with fifty databases that were all written to, and now nothing
// happens. Its host has the databases; workerd is the same without them.
func idle(ctx context.Context, b *bench) ([]row, error) {
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
	target, err := daemon.Deploy(ctx, "idle")
	if err == nil {
		err = load.Once(ctx, target, "/")
	}
	if err != nil {
		return nil, err
	}
	routes, err := daemon.Client.Routes(ctx)
	if err != nil {
		return nil, err
	}
	host := routes.Items[0].PID
	if err := wait(ctx, idleSettle); err != nil {
		return nil, err
	}
	requests := store.Requests()
	before, err := proc.Worked(host)
	if err != nil {
		return nil, err
	}
	if err := wait(ctx, idleWatch); err != nil {
		return nil, err
	}
	after, err := proc.Worked(host)
	if err != nil {
		return nil, err
	}
	requests = store.Requests() - requests
	share := 100 * float64(after-before) / float64(idleWatch)
	what := fmt.Sprintf("%d idle databases of a version: ", idleDatabases)
	return []row{
		row{what: what + "requests to the store in a minute", ours: fmt.Sprint(requests)}.atMost(float64(requests), 0, ""),
		row{what: what + "their host's share of a processor", ours: fmt.Sprintf("%.3f %%", share)}.atMost(share, idleGoal, " %"),
	}, nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
