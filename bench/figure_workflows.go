package main

import (
	"context"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
)

const (
	eventRounds    = 7
	workflowWindow = 2 * time.Second
	workflowTimes  = 1.4 // as fast as each peer
	workflowTime   = 7   // ms of one instance
	workflowRate   = 220 // instances a second
)

// workflows: instances of three steps, from create to complete.
func workflows(ctx context.Context, b *bench) ([]row, error) {
	return b.compareEvents(ctx, "workflow", []event{
		{
			what: "a workflow of 3 steps, one after another", unit: "%.1f ms", measure: workflowOne,
			goal: func(r row, f float64) row { return r.atMost(f, workflowTime, " ms") }, times: workflowTimes,
		},
		{
			what: "workflows of 3 steps, 20 at the same time", unit: "%.0f/s", rate: true, measure: workflowMany,
			goal: func(r row, f float64) row { return r.atLeast(f, workflowRate, "/s") }, times: workflowTimes,
		},
	}, nil)
}

// workflowOne is the median time of one instance, in ms.
func workflowOne(ctx context.Context, t load.Target) (float64, error) {
	r, err := load.Run(ctx, load.Window{Target: t, Path: "/run?n=1", Expect: `{"ok":1}`, Conns: 1, For: workflowWindow})
	return float64(r.Median) / float64(time.Millisecond), err
}

// workflowMany is instances a second: two connections with requests of ten.
func workflowMany(ctx context.Context, t load.Target) (float64, error) {
	r, err := load.Run(ctx, load.Window{Target: t, Path: "/run?n=10", Expect: `{"ok":10}`, Conns: 2, For: workflowWindow})
	return r.PerSecond * 10, err
}

// event is something that is measured under all systems: a time, or a rate.
type event struct {
	what, unit string
	rate       bool
	measure    func(context.Context, load.Target) (float64, error)
	goal       func(row, float64) row // of our own figure
	times      float64                // goal beside each peer; 0 for none
}

// compareEvents measures the events of a fixture here and under the peers, and then what only
// we have.
func (b *bench) compareEvents(ctx context.Context, fixture string, events []event, own func(context.Context, system) ([]row, error)) ([]row, error) {
	daemon, err := b.program.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer daemon.Stop()
	all, stop, err := b.systems(ctx, daemon, "one", fixture, []string{miniflare, native})
	if err != nil {
		return nil, err
	}
	defer stop()
	var rows []row
	for _, e := range events {
		more, err := e.compare(ctx, all)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.what, err)
		}
		rows = append(rows, more...)
	}
	if own == nil {
		return rows, nil
	}
	more, err := own(ctx, all[0])
	return append(rows, more...), err
}

// compare measures the event at all systems, in turn. The first round warms up.
func (e event) compare(ctx context.Context, all []system) ([]row, error) {
	subjects := make([]subject, len(all))
	for i, s := range all {
		subjects[i] = func() (float64, error) { return e.measure(ctx, s.target) }
	}
	figures, err := alternate(1+eventRounds, subjects...)
	if err != nil {
		return nil, err
	}
	ours := figures[0][1:]
	rows := []row{e.goal(row{what: e.what, ours: fmt.Sprintf(e.unit, median(ours))}, median(ours))}
	for i, s := range all[1:] {
		theirs := figures[1+i][1:]
		times := ratio(theirs, ours)
		if e.rate {
			times = ratio(ours, theirs)
		}
		r := row{
			what: e.what, ours: fmt.Sprintf(e.unit, median(ours)),
			beside: fmt.Sprintf(s.name+" "+e.unit, median(theirs)), ratio: fmt.Sprintf("%.2fx as fast", times),
		}
		if e.times > 0 {
			r = r.atLeast(times, e.times, "x")
		}
		rows = append(rows, r)
	}
	return rows, nil
}
