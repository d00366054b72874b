package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/bench/internal/ours"
)

const (
	spawns    = 15
	spawnGoal = 2.0
	spareGoal = 0.8

	databaseGoal = 0.95 // from a spare
)

// spawn: from the start of a runtime's processes to its first 200, without a spare and
// from one, for hello world and for a worker with a D1 database.
func spawn(ctx context.Context, b *bench) (rows []row, err error) {
	for _, kind := range []struct {
		fixture, what string
		goals         []float64 // without a spare, and from one
	}{
		{"hello", "hello world", []float64{spawnGoal, spareGoal}},
		{"d1", "a D1 database", []float64{0, databaseGoal}},
	} {
		more, err := b.spawns(ctx, kind.fixture, kind.what, kind.goals)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// spawns compares the starts of a fixture with those of a bare workerd that serves hello world.
func (b *bench) spawns(ctx context.Context, fixture, what string, goals []float64) (rows []row, err error) {
	var starts [2]*ours.Runtimes // by their number of spares
	for spares := range starts {
		if starts[spares], err = b.program.Runtimes(ctx, fixture, spares); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, starts[spares].Stop(context.WithoutCancel(ctx))) }()
	}
	figures, err := alternate(spawns,
		func() (float64, error) { return started(ctx, starts[0]) },
		func() (float64, error) { return started(ctx, starts[1]) },
		func() (float64, error) {
			bare, err := b.peers.Bare(ctx, "hello")
			if err != nil {
				return 0, err
			}
			bare.Stop()
			return milliseconds(bare.Took), nil
		},
	)
	if err != nil {
		return nil, err
	}
	for i, goal := range goals {
		times := ratio(figures[i], figures[2])
		r := row{
			what: fmt.Sprintf("spawn to first 200, %s%s (median of %d)", what, []string{"", ", from a spare"}[i], spawns), ours: fmt.Sprintf("%.0f ms", median(figures[i])),
			beside: fmt.Sprintf("bare workerd, hello world %.0f ms", median(figures[2])), ratio: fmt.Sprintf("%.2fx", times),
		}
		if goal > 0 {
			r = r.atMost(times, goal, "x")
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func started(ctx context.Context, r *ours.Runtimes) (float64, error) {
	if err := r.AwaitSpares(ctx); err != nil {
		return 0, err
	}
	took, err := r.Start(ctx)
	return milliseconds(took), err
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
