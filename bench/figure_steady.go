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
	title := fmt.Sprintf("%s, %d/s over %d connections", gatewayTitle, steadyRate, steadyConns)
	some := slices.DeleteFunc(slices.Clone(ways), func(p *proxied) bool { return p != ways[0] && p.name != nginx && p.name != sameWorker })
	if len(some) == 1 {
		return []row{{what: title, beside: "nginx absent"}}, nil
	}
	subjects := make([]subject, len(some))
	for i, p := range some {
		p.cpu = nil
		subjects[i] = steady(ctx, p)
	}
	figures, err := alternate(1+gatewayRounds, subjects...)
	if err != nil {
		return nil, err
	}
	ours, rows := figures[0][1:], []row(nil) // the first round warms up
	for i, p := range some[1:] {
		theirs := figures[i+1][1:]
		times := ratio(ours, theirs)
		r := row{
			what: title + ", p99", ours: fmt.Sprintf("%.2f ms", median(ours)),
			beside: fmt.Sprintf("%s %.2f ms", p.name, median(theirs)), ratio: fmt.Sprintf("%.2fx", times),
		}
		if p.name == nginx {
			r = r.atMost(times, steadyGoal, "x")
		}
		rows = append(rows, r, goalRow(title, some[0], p))
	}
	return rows, nil
}

// steady measures the p99 of one window, in milliseconds.
func steady(ctx context.Context, p *proxied) subject {
	return func() (float64, error) {
		r, err := p.measure(ctx, load.Window{Path: "/", Expect: "Hello, world!", Conns: steadyConns, For: steadyWindow, Rate: steadyRate})
		return float64(r.P99.Microseconds()) / 1000, err
	}
}
