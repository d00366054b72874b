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
)

// spawn: from the start of a runtime's processes to its first 200, without a spare and
// from one.
func spawn(ctx context.Context, b *bench) (rows []row, err error) {
	var starts [2]*ours.Runtimes // by their number of spares
	for spares := range starts {
		if starts[spares], err = b.program.Runtimes(ctx, "hello", spares); err != nil {
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
	for i, goal := range []float64{spawnGoal, spareGoal} {
		times := ratio(figures[i], figures[2])
		rows = append(rows, row{
			what: fmt.Sprintf("spawn to first 200, hello world%s (median of %d)", []string{"", ", from a spare"}[i], spawns), ours: fmt.Sprintf("%.0f ms", median(figures[i])),
			beside: fmt.Sprintf("bare workerd %.0f ms", median(figures[2])), ratio: fmt.Sprintf("%.2fx", times),
		}.atMost(times, goal, "x"))
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
