package main

import (
	"context"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/proc"
)

const (
	grownRequests = 60_000
	grownConns    = 32
	grownGoal     = 60.0 // MiB
	grownRateGoal = 0.97
	grownFlagsOff = "SVC_WORKER_MEMORY_MB=0" // V8 without the flags that make the first full collection early
)

// grown: the memory of a workerd after many requests, and how many it answers, with the flags
// of V8 and without them.
func grown(ctx context.Context, b *bench) (rows []row, err error) {
	for _, kind := range []struct{ fixture, path, seed string }{
		{"hello", "/", ""}, {"hono", "/", ""}, {"kv", "/get?n=1", "/seed"}, {"d1", "/select?n=1", "/seed"},
	} {
		var memory, rate [2]float64 // with the flags, and without
		for i, env := range [][]string{nil, {grownFlagsOff}} {
			if memory[i], rate[i], err = b.grow(ctx, kind.fixture, kind.path, kind.seed, env...); err != nil {
				return nil, fmt.Errorf("%s: %w", kind.fixture, err)
			}
		}
		what := fmt.Sprintf("%s, %d requests", kind.fixture, grownRequests)
		rows = append(rows,
			row{
				what: "workerd after " + what, ours: fmt.Sprintf("%.0f MiB", memory[0]),
				beside: fmt.Sprintf("without flags %.0f MiB", memory[1]), ratio: fmt.Sprintf("%.2fx", memory[0]/memory[1]),
			}.atMost(memory[0], grownGoal, " MiB"),
			row{
				what: what, ours: fmt.Sprintf("%.0f/s", rate[0]),
				beside: fmt.Sprintf("without flags %.0f/s", rate[1]), ratio: fmt.Sprintf("%.2fx", rate[0]/rate[1]),
			}.atLeast(rate[0]/rate[1], grownRateGoal, "x"))
	}
	return rows, nil
}

// grow gives the memory of a workerd that no file has after its requests, and requests per second.
func (b *bench) grow(ctx context.Context, fixture, path, seed string, env ...string) (memory, rate float64, err error) {
	daemon, err := b.program.StartWith(ctx, env...)
	if err != nil {
		return 0, 0, err
	}
	defer daemon.Stop()
	target, err := daemon.Deploy(ctx, fixture)
	if err != nil {
		return 0, 0, err
	}
	if seed != "" {
		if err := load.Once(ctx, target, seed); err != nil {
			return 0, 0, err
		}
	}
	began := time.Now()
	for sent := 0; sent < grownRequests; {
		r, err := load.Run(ctx, load.Window{Target: target, Path: path, Conns: grownConns, For: gatewayWindow, Most: grownRequests - sent})
		if err != nil {
			return 0, 0, err
		}
		sent += r.Requests
	}
	rate = grownRequests / time.Since(began).Seconds()
	routes, err := daemon.Client.Routes(ctx)
	if err != nil {
		return 0, 0, err
	}
	workers, err := proc.Children(routes.Items[0].PID)
	if err != nil {
		return 0, 0, err
	}
	for _, pid := range workers {
		n, err := proc.Dirty(pid)
		if err != nil {
			return 0, 0, err
		}
		memory += float64(n) / (1 << 20)
	}
	return memory, rate, nil
}
