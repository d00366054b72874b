package main

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/peer"
	"github.com/svcctl/svcctl/bench/internal/proc"
)

// sameWorker is nginx in front of our own worker, with the headers that our gateway adds: what differs
// between it and ours is the gateway, and between it and nginx the worker and these headers.
const sameWorker = "nginx, our worker"

// lineup is the ways to a worker: the first one is ours, the second one the bare workerd.
type lineup struct {
	ways []*proxied
	rows []row // of the proxies that are absent
	stop func()
}

// proxies starts a fixture behind our gateway, and the same worker on a bare workerd behind
// each kind of proxy, and our worker behind nginx. The caller calls stop, also after an error.
func (b *bench) proxies(ctx context.Context, fixture string, kinds []string) (l lineup, err error) {
	var stops []func()
	l.stop = func() {
		for _, f := range stops {
			f()
		}
	}
	daemon, err := b.program.Start(ctx)
	if err != nil {
		return l, err
	}
	stops = append(stops, daemon.Stop)
	target, err := daemon.Deploy(ctx, fixture)
	if err != nil {
		return l, err
	}
	bare, err := b.peers.Bare(ctx, fixture)
	if err != nil {
		return l, err
	}
	stops = append(stops, bare.Stop)
	l.ways = []*proxied{
		// The daemon's own process: the worker hosts and workerd that it started are no part of the gateway.
		{name: svcctl, target: target, pids: one(daemon.PID), worked: func() (time.Duration, error) { return proc.Worked(daemon.PID) }},
		{name: "bare workerd", target: bare.Target},
	}
	own, err := daemon.Worker(target.Host)
	if err != nil {
		return l, err
	}
	type way struct {
		name, kind string
		to         load.Target
		headers    string
	}
	all := make([]way, 0, len(kinds)+1)
	for _, kind := range kinds {
		all = append(all, way{kind, kind, bare.Socket, ""})
	}
	for _, w := range append(all, way{sameWorker, nginx, own, peer.OurHeaders}) {
		proxy, err := b.peers.ProxyWith(ctx, w.kind, w.to, w.headers)
		if errors.Is(err, peer.ErrAbsent) {
			l.rows = append(l.rows, row{what: "gateway", beside: w.kind + " absent"})
			continue
		}
		if err != nil {
			return l, err
		}
		stops = append(stops, proxy.Stop)
		l.ways = append(l.ways, &proxied{ // nginx works in children
			name: w.name, target: proxy.Target, pids: func() ([]int, error) { return withChildren(proxy.PID) },
			worked: func() (time.Duration, error) { return proc.WorkedAll(proxy.PID) },
		})
	}
	return l, nil
}

func (l *lineup) ours() *proxied { return l.way(svcctl) }

// way returns the way with a name, nil if its proxy is absent.
func (l *lineup) way(name string) *proxied {
	for _, p := range l.ways {
		if p.name == name {
			return p
		}
	}
	return nil
}

func one(pid int) func() ([]int, error) { return func() ([]int, error) { return []int{pid}, nil } }

func withChildren(pid int) ([]int, error) {
	children, err := proc.Children(pid)
	return append(children, pid), err
}
