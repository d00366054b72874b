package main

import (
	"context"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
)

const (
	bindingRounds = 9
	bindingWindow = 700 * time.Millisecond
	manyConns     = 8
)

// operation is a call of a binding, which a fixture makes n times, one after
// another, for a request to path?n=.
type operation struct {
	what, path string
	many       int                // calls of the longer request
	conns      int                // 1: the time of one call; more: calls a second
	goals      map[string]float64 // how many times as fast as a peer
}

// compareBindings measures the operations of a fixture here and under the peers.
func (b *bench) compareBindings(ctx context.Context, fixture string, peers []string, operations []operation) ([]row, error) {
	daemon, err := b.program.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer daemon.Stop()
	all, stop, err := b.systems(ctx, daemon, "one", fixture, peers)
	if err != nil {
		return nil, err
	}
	defer stop()
	var rows []row
	for _, o := range operations {
		more, err := o.compare(ctx, all)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.what, err)
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// compare measures the operation at all systems, in turn. The first round warms up.
func (o operation) compare(ctx context.Context, all []system) ([]row, error) {
	subjects := make([]subject, len(all))
	for i, s := range all {
		subjects[i] = func() (float64, error) { return o.measure(ctx, s.target) }
	}
	figures, err := alternate(1+bindingRounds, subjects...)
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, s := range all[1:] {
		rows = append(rows, o.row(s.name, figures[0][1:], figures[1+i][1:]))
	}
	return rows, nil
}

func (o operation) row(peer string, ours, theirs []float64) row {
	unit, times := "%.0f µs", ratio(theirs, ours)
	if o.conns > 1 {
		unit, times = "%.0f/s", ratio(ours, theirs)
	}
	r := row{
		what: o.what, ours: fmt.Sprintf(unit, median(ours)),
		beside: fmt.Sprintf(peer+" "+unit, median(theirs)), ratio: fmt.Sprintf("%.2fx as fast", times),
	}
	if goal := o.goals[peer]; goal > 0 {
		r = r.atLeast(times, goal, "x")
	}
	return r
}

// measure gives the microseconds of one call with HTTP taken out, which is the
// median request that makes many less the median request that makes one; or the
// calls a second of several connections.
func (o operation) measure(ctx context.Context, t load.Target) (float64, error) {
	many, err := o.requests(ctx, t, o.many)
	if err != nil || o.conns > 1 {
		return many.PerSecond * float64(o.many), err
	}
	one, err := o.requests(ctx, t, 1)
	return float64(many.Median-one.Median) / float64(o.many-1) / float64(time.Microsecond), err
}

// requests makes requests of n calls each.
func (o operation) requests(ctx context.Context, t load.Target, n int) (load.Result, error) {
	return load.Run(ctx, load.Window{
		Target: t, Path: fmt.Sprintf("%s?n=%d", o.path, n), Expect: fmt.Sprintf(`{"ok":%d}`, n), Conns: o.conns, For: bindingWindow,
	})
}
