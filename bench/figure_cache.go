package main

import (
	"context"
	"fmt"
)

const cacheRounds = 7

// responses: the time of one operation of the Cache API inside a worker.
func responses(ctx context.Context, b *bench) ([]row, error) {
	p, err := b.beside(ctx, "cache")
	if err != nil {
		return nil, err
	}
	defer p.stop()
	var rows []row
	for _, op := range []struct {
		what, path string
		goal       float64 // how many times as fast as miniflare; 0 for none
	}{{"one Cache API hit of 1 KB", "/op", 2}, {"one Cache API miss", "/miss", 0}, {"one Cache API put of 1 KB", "/put", 0}} {
		figures, err := alternate(1+cacheRounds, perObject(ctx, p.ours, op.path, bindingMany), perObject(ctx, p.theirs, op.path, bindingMany))
		if err != nil {
			return nil, err
		}
		times := ratio(figures[1][1:], figures[0][1:]) // the first round warmed up
		r := row{
			what: op.what + " inside a worker", ours: fmt.Sprintf("%.0f us", median(figures[0][1:])),
			beside: fmt.Sprintf("miniflare %.0f us", median(figures[1][1:])), ratio: fmt.Sprintf("%.2fx as fast", times),
		}
		if op.goal > 0 {
			r = r.atLeast(times, op.goal, "x")
		}
		rows = append(rows, r)
	}
	return rows, nil
}
