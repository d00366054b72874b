package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
)

const nginx = "nginx"

const (
	steadyRate   = 1000 // requests per second
	steadyConns  = 16
	steadyWindow = 4 * time.Second
	steadyGoal   = 1.05
)

// compareSteady measures the slowest requests at a constant rate, ours beside nginx's.
func compareSteady(ctx context.Context, ways []*proxied) ([]row, error) {
	i := slices.IndexFunc(ways, func(p *proxied) bool { return p.name == nginx })
	title := fmt.Sprintf("%s, %d/s over %d connections, p99", gatewayTitle, steadyRate, steadyConns)
	if i < 0 {
		return []row{{what: title, beside: "nginx absent"}}, nil
	}
	ways[0].cpu, ways[i].cpu = nil, nil
	figures, err := alternate(1+gatewayRounds, steady(ctx, ways[0]), steady(ctx, ways[i]))
	if err != nil {
		return nil, err
	}
	ours, theirs := figures[0][1:], figures[1][1:] // the first round warms up
	times := ratio(ours, theirs)
	r := row{
		what: title, ours: fmt.Sprintf("%.2f ms", median(ours)),
		beside: fmt.Sprintf("nginx %.2f ms", median(theirs)), ratio: fmt.Sprintf("%.2fx", times),
	}
	cpu := goalRow(fmt.Sprintf("%s, %d/s over %d connections", gatewayTitle, steadyRate, steadyConns), ways[0], ways[i])
	return []row{r.atMost(times, steadyGoal, "x"), cpu}, nil
}

// steady measures the p99 of one window, in milliseconds.
func steady(ctx context.Context, p *proxied) subject {
	return func() (float64, error) {
		r, err := p.measure(ctx, load.Window{Path: "/", Expect: "Hello, world!", Conns: steadyConns, For: steadyWindow, Rate: steadyRate})
		return float64(r.P99.Microseconds()) / 1000, err
	}
}
