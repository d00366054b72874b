package main

import (
	"context"
	"fmt"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/ours"
)

// The names of what serves a fixture.
const (
	svcctl    = "ours"
	miniflare = "miniflare"
	native    = "native" // the simulators in workerd itself
)

// system is something that serves a fixture, with its data.
type system struct {
	name   string
	target load.Target
	stop   func()
}

// systems starts a fixture here, in a version of a daemon, and under each of the
// peers, and stores its data. stop ends the peers.
func (b *bench) systems(ctx context.Context, d *ours.Daemon, version, fixture string, peers []string) (all []system, stop func(), err error) {
	stop = func() {
		for _, s := range all {
			s.stop()
		}
	}
	for _, name := range append([]string{svcctl}, peers...) {
		s, err := b.system(ctx, d, name, version, fixture)
		if err != nil {
			stop()
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, s)
		if err := load.Once(ctx, s.target, "/seed"); err != nil {
			stop()
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, stop, nil
}

// system starts one, without its data.
func (b *bench) system(ctx context.Context, d *ours.Daemon, name, version, fixture string) (system, error) {
	if name == svcctl {
		target, err := d.DeployAs(ctx, fixture, version)
		return system{name, target, func() {}}, err
	}
	start := b.peers.Miniflare
	if name == native {
		start = b.peers.Native
	}
	running, err := start(ctx, fixture)
	if err != nil {
		return system{}, err
	}
	return system{name, running.Target, running.Stop}, nil
}
