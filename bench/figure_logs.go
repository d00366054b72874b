package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
)

const (
	logsRounds = 7
	logsWindow = 2 * time.Second
	logsConns  = 8
	logsGoal   = 0.9
)

// logs: what the records of a worker cost: its host and workerd, which write a record of each
// request, beside a workerd that writes none. Both are asked without a gateway.
func logs(ctx context.Context, b *bench) (rows []row, err error) {
	for _, fixture := range []string{"hello", "lines"} {
		r, err := logged(ctx, b, fixture)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// logged compares one worker. The first round warms up.
func logged(ctx context.Context, b *bench, fixture string) (_ row, err error) {
	runtimes, err := b.program.Runtimes(ctx, fixture, 0)
	if err != nil {
		return row{}, err
	}
	defer func() { err = errors.Join(err, runtimes.Stop(context.WithoutCancel(ctx))) }()
	ours, stop, err := runtimes.Keep(ctx)
	if err != nil {
		return row{}, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	bare, err := b.peers.Bare(ctx, fixture)
	if err != nil {
		return row{}, err
	}
	defer bare.Stop()
	asked := func(target load.Target) subject {
		return func() (float64, error) {
			r, err := load.Run(ctx, load.Window{Target: target, Path: "/", Expect: "Hello, world!", Conns: logsConns, For: logsWindow})
			return r.PerSecond, err
		}
	}
	figures, err := alternate(1+logsRounds, asked(ours), asked(bare.Socket))
	if err != nil {
		return row{}, err
	}
	with, without := figures[0][1:], figures[1][1:]
	times := ratio(with, without)
	return row{
		what: fmt.Sprintf("worker %s with records, %d connections", fixture, logsConns), ours: fmt.Sprintf("%.0f/s", median(with)),
		beside: fmt.Sprintf("bare workerd %.0f/s", median(without)), ratio: fmt.Sprintf("%.2fx", times),
	}.atLeast(times, logsGoal, "x"), nil
}
