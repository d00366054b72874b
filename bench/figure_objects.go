package main

import (
	"context"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
)

// objects: the time of one operation on an object store inside a worker.
func objects(ctx context.Context, b *bench) ([]row, error) {
	p, err := b.beside(ctx, "r2")
	if err != nil {
		return nil, err
	}
	defer p.stop()
	var rows []row
	for _, op := range []struct {
		what, path string
		many       int // operations of the longer request
	}{
		{"one R2 head", "/head", 20},
		{"one R2 list of 20", "/list", 20},
		{"one R2 get of 1 KB", "/get1", 20},
		{"one R2 get of 64 KB", "/get64", 20},
		{"one R2 get of 256 KB", "/get256", 20},
		{"one R2 get of 8 MB", "/big", 3},
		{"one R2 put of 1 KB", "/put1", 20},
		{"one R2 put of 64 KB", "/put64", 20},
		{"one R2 put of 256 KB", "/put256", 20},
		{"one R2 put of 8 MB", "/store", 3},
	} {
		figures, err := alternate(1+bindingRounds, perObject(ctx, p.ours, op.path, op.many), perObject(ctx, p.theirs, op.path, op.many))
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{
			what: op.what + " inside a worker", ours: fmt.Sprintf("%.0f us", median(figures[0][1:])), // the first round warmed up
			beside: fmt.Sprintf("miniflare %.0f us", median(figures[1][1:])), ratio: fmt.Sprintf("%.2fx as fast", ratio(figures[1][1:], figures[0][1:])),
		})
	}
	return rows, nil
}

// perObject measures one operation in microseconds, as perOperation does.
func perObject(ctx context.Context, t load.Target, path string, many int) subject {
	timed := func(n int) (time.Duration, error) {
		r, err := load.Run(ctx, load.Window{
			Target: t, Path: fmt.Sprintf("%s?n=%d", path, n), Expect: fmt.Sprintf(`{"ok":%d}`, n), Conns: 1, For: bindingWindow,
		})
		return r.Median, err
	}
	return func() (float64, error) {
		one, err := timed(1)
		if err != nil {
			return 0, err
		}
		more, err := timed(many)
		return float64(more-one) / float64(many-1) / float64(time.Microsecond), err
	}
}
