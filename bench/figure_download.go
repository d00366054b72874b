package main

import (
	"context"
	"fmt"

	"github.com/svcctl/svcctl/bench/internal/load"
)

const (
	downloadMB   = 8
	downloadGoal = 1
)

// download: an object of R2 as the response to a client, beside miniflare.
func download(ctx context.Context, b *bench) ([]row, error) {
	daemon, err := b.program.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer daemon.Stop()
	all, stop, err := b.systems(ctx, daemon, "one", "r2", []string{miniflare})
	if err != nil {
		return nil, err
	}
	defer stop()
	var rows []row
	for _, d := range []struct {
		path string
		mb   int
	}{{"/send", downloadMB}, {"/sendlarge", largeMB}} {
		for _, conns := range []int{1, 4} {
			window := load.Window{Path: d.path, Conns: conns, For: gatewayWindow}
			subjects := make([]subject, len(all))
			for i, s := range all {
				subjects[i] = perSecond(ctx, &proxied{target: s.target}, window)
			}
			figures, err := alternate(1+gatewayRounds, subjects...)
			if err != nil {
				return nil, err
			}
			times := ratio(figures[0][1:], figures[1][1:])
			rows = append(rows, row{
				what: fmt.Sprintf("R2 get of %d MB to a client, %d connections", d.mb, conns), ours: fmt.Sprintf("%.0f MB/s", median(figures[0][1:])*float64(d.mb)),
				beside: fmt.Sprintf("miniflare %.0f MB/s", median(figures[1][1:])*float64(d.mb)), ratio: fmt.Sprintf("%.2fx", times),
			}.atLeast(times, downloadGoal, "x"))
		}
	}
	return rows, nil
}

// largeMB is the size of an object that the first cache of objects did not keep.
const largeMB = 24
