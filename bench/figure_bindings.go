package main

import (
	"context"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
)

const (
	bindingRounds = 7
	bindingWindow = 700 * time.Millisecond
	bindingWarm   = 2 * time.Second
	bindingMany   = 20 // operations of the longer request
)

// operation is one binding operation, which a fixture does n times at /op?n=.
type operation struct {
	what, fixture string
	goal          float64 // how many times as fast as miniflare
}

// bindings: the time of one operation inside a worker.
func bindings(ctx context.Context, b *bench) ([]row, error) {
	daemon, err := b.program.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer daemon.Stop()
	var rows []row
	for _, op := range []operation{{"one D1 select by key", "d1", 2.5}, {"one KV get of 1 KB", "kv", 2}} {
		target, err := daemon.Deploy(ctx, op.fixture)
		if err != nil {
			return nil, err
		}
		r, err := op.compare(ctx, b, target)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// compare measures the operation at a target of ours and under miniflare.
func (o operation) compare(ctx context.Context, b *bench, target load.Target) (row, error) {
	miniflare, err := b.peers.Miniflare(ctx, o.fixture)
	if err != nil {
		return row{}, err
	}
	defer miniflare.Stop()
	for _, t := range []load.Target{target, miniflare.Target} {
		if err := load.Once(ctx, t, "/seed"); err != nil {
			return row{}, err
		}
		if _, err := request(ctx, t, bindingMany, bindingWarm); err != nil {
			return row{}, err
		}
	}
	figures, err := alternate(bindingRounds, perOperation(ctx, target), perOperation(ctx, miniflare.Target))
	if err != nil {
		return row{}, err
	}
	times := ratio(figures[1], figures[0])
	return row{
		what: o.what + " inside a worker", ours: fmt.Sprintf("%.0f us", median(figures[0])),
		beside: fmt.Sprintf("miniflare %.0f us", median(figures[1])), ratio: fmt.Sprintf("%.2fx as fast", times),
	}.atLeast(times, o.goal, "x"), nil
}

// perOperation measures one operation in microseconds with HTTP taken out: the
// median request that does many less the median request that does one.
func perOperation(ctx context.Context, t load.Target) subject {
	return func() (float64, error) {
		one, err := request(ctx, t, 1, bindingWindow)
		if err != nil {
			return 0, err
		}
		many, err := request(ctx, t, bindingMany, bindingWindow)
		return float64(many-one) / float64(bindingMany-1) / float64(time.Microsecond), err
	}
}

// request is the median time of a request that does n operations.
func request(ctx context.Context, t load.Target, n int, window time.Duration) (time.Duration, error) {
	r, err := load.Run(ctx, load.Window{
		Target: t, Path: fmt.Sprintf("/op?n=%d", n), Expect: fmt.Sprintf(`{"ok":%d}`, n), Conns: 1, For: window,
	})
	return r.Median, err
}
