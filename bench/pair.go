package main

import (
	"context"

	"github.com/svcctl/svcctl/bench/internal/load"
)

// pair is a fixture's worker here and the same under miniflare, both with their
// data. stop ends both.
type pair struct {
	ours, theirs load.Target
	stop         func()
}

// beside starts a pair.
func (b *bench) beside(ctx context.Context, fixture string) (p pair, err error) {
	daemon, err := b.program.Start(ctx)
	if err != nil {
		return p, err
	}
	p.stop = daemon.Stop
	defer func() {
		if err != nil {
			p.stop()
		}
	}()
	if p.ours, err = daemon.Deploy(ctx, fixture); err != nil {
		return p, err
	}
	miniflare, err := b.peers.Miniflare(ctx, fixture)
	if err != nil {
		return p, err
	}
	p.theirs, p.stop = miniflare.Target, func() { miniflare.Stop(); daemon.Stop() }
	for _, t := range []load.Target{p.ours, p.theirs} {
		if err := load.Once(ctx, t, "/seed"); err != nil {
			return p, err
		}
	}
	return p, nil
}
