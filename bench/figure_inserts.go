package main

import (
	"context"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
)

const (
	insertRounds = 15
	insertWindow = time.Second
	insertMany   = 20 // in one request
)

// inserts: D1 inserts of a worker, each a transaction that is on disk before it
// is answered, one after another on each of some connections.
func inserts(ctx context.Context, b *bench) ([]row, error) {
	p, err := b.beside(ctx, "d1")
	if err != nil {
		return nil, err
	}
	defer p.stop()
	var rows []row
	for _, c := range []struct {
		conns, each int
		goal        float64
	}{{1, insertMany, 1.5}, {8, insertMany, 3}, {1, 1, 0}, {8, 1, 0}} {
		figures, err := alternate(1+insertRounds, insertRate(ctx, p.ours, c.conns, c.each), insertRate(ctx, p.theirs, c.conns, c.each))
		if err != nil {
			return nil, err
		}
		times := ratio(figures[0][1:], figures[1][1:]) // the first round warmed up
		r := row{
			what: fmt.Sprintf("D1 inserts, %d connections, %d to a request", c.conns, c.each), ours: fmt.Sprintf("%.0f/s", median(figures[0])),
			beside: fmt.Sprintf("miniflare %.0f/s", median(figures[1])), ratio: fmt.Sprintf("%.2fx", times),
		}
		if c.goal > 0 {
			r = r.atLeast(times, c.goal, "x")
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// insertRate gives inserts a second.
func insertRate(ctx context.Context, t load.Target, conns, each int) subject {
	return func() (float64, error) {
		r, err := load.Run(ctx, load.Window{
			Target: t, Path: fmt.Sprintf("/insert?n=%d", each), Expect: fmt.Sprintf(`{"ok":%d}`, each), Conns: conns, For: insertWindow,
		})
		return r.PerSecond * float64(each), err
	}
}
