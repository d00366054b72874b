package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	spawns    = 15
	spawnGoal = 2.0
)

// spawn: from the start of a runtime's processes to its first 200.
func spawn(ctx context.Context, b *bench) (rows []row, err error) {
	runtimes, err := b.program.Runtimes(ctx, "hello")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, runtimes.Stop(context.WithoutCancel(ctx))) }()
	figures, err := alternate(spawns,
		func() (float64, error) {
			took, err := runtimes.Start(ctx)
			return milliseconds(took), err
		},
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
	times := ratio(figures[0], figures[1])
	return []row{row{
		what: fmt.Sprintf("spawn to first 200, hello world (median of %d)", spawns), ours: fmt.Sprintf("%.0f ms", median(figures[0])),
		beside: fmt.Sprintf("bare workerd %.0f ms", median(figures[1])), ratio: fmt.Sprintf("%.2fx", times),
	}.atMost(times, spawnGoal, "x")}, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
