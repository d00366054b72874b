package main

import (
	"context"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/ours"
)

const (
	coldStarts = 5
	coldWindow = 300 * time.Millisecond // JavaScript is compiled in it
	coldMany   = 20
)

// coldCall is a call of a binding, which a fixture makes at path?n=.
type coldCall struct{ what, fixture, path string }

// cold: bindings in the first moments of a worker, which figures of a warm one
// leave out. Each start is of a new worker, on both sides.
func cold(ctx context.Context, b *bench) ([]row, error) {
	daemon, err := b.program.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer daemon.Stop()
	var rows []row
	for _, c := range []coldCall{
		{"one KV get of 1 KB", "kv", "/get"},
		{"one KV put of 1 KB, a new value", "kv", "/put"},
		{"one D1 select by key", "d1", "/select"},
		{"one D1 insert", "d1", "/insert"},
	} {
		figures := map[string][]float64{} // by system
		for i := range coldStarts {
			if err := b.coldStart(ctx, daemon, c, i, figures); err != nil {
				return nil, err
			}
		}
		for _, peer := range []string{miniflare, native} {
			rows = append(rows, operation{what: c.what + ", first 300 ms", conns: 1}.row(peer, figures[svcctl], figures[peer]))
		}
	}
	return rows, nil
}

// coldStart starts each system once and adds the time of one call, with its share
// of the request, to the system's figures.
func (b *bench) coldStart(ctx context.Context, d *ours.Daemon, c coldCall, i int, figures map[string][]float64) error {
	version := fmt.Sprintf("%s-%d", c.path[1:], i)
	all, stop, err := b.systems(ctx, d, version, c.fixture, []string{miniflare, native})
	if err != nil {
		return err
	}
	defer stop()
	for _, s := range all {
		r, err := load.Run(ctx, load.Window{
			Target: s.target, Path: fmt.Sprintf("%s?n=%d", c.path, coldMany), Expect: fmt.Sprintf(`{"ok":%d}`, coldMany), Conns: 1, For: coldWindow,
		})
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		figures[s.name] = append(figures[s.name], float64(r.Median)/coldMany/float64(time.Microsecond))
	}
	return nil
}
