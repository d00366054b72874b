package main

import (
	"context"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
)

const trafficGoal = 0.95

// traffic: what is not hello world on kept connections, through our gateway and through nginx.
func traffic(ctx context.Context, b *bench) ([]row, error) {
	l, err := b.proxies(ctx, "traffic", []string{nginx})
	defer l.stop()
	rows, ours, theirs, same := l.rows, l.ours(), l.way(nginx), l.way(sameWorker)
	if err != nil || theirs == nil {
		return rows, err
	}
	for _, kind := range []struct {
		what string
		load.Window
	}{
		{"a connection per request, 8 at a time", load.Window{Path: "/", Expect: "Hello, world!", Conns: 8, Fresh: true}},
		{"downloads of 1 MB, 4 connections", load.Window{Path: "/mb", Expect: "xxx", Conns: 4}},
		{"websocket echoes, 8 connections", load.Window{Path: "/echo", Conns: 8, Echo: true}},
	} {
		kind.For = gatewayWindow
		ours.cpu, theirs.cpu, same.cpu = nil, nil, nil
		figures, err := alternate(1+gatewayRounds, perSecond(ctx, ours, kind.Window), perSecond(ctx, theirs, kind.Window), perSecond(ctx, same, kind.Window))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.what, err)
		}
		for i, p := range []*proxied{theirs, same} {
			times := ratio(figures[0][1:], figures[i+1][1:])
			r := row{
				what: kind.what, ours: fmt.Sprintf("%.0f/s", median(figures[0][1:])),
				beside: fmt.Sprintf("%s %.0f/s", p.name, median(figures[i+1][1:])), ratio: fmt.Sprintf("%.2fx", times),
			}
			if p == theirs {
				r = r.atLeast(times, trafficGoal, "x")
			}
			rows = append(rows, r, cpuRow(kind.what, ours, p))
		}
	}
	return rows, nil
}

func perSecond(ctx context.Context, p *proxied, w load.Window) subject {
	return func() (float64, error) {
		r, err := p.measure(ctx, w)
		return r.PerSecond, err
	}
}

const (
	idleConns    = 8000 // both ends of each are descriptors of processes with a limit of 20,000
	idleConnTime = 15 * time.Second
	idleConnGoal = 1.5 // KB
)

// connections: what an idle connection of a client costs the gateway, and nginx. The kernel's
// part is left out: it is that of any server.
func connections(ctx context.Context, b *bench) ([]row, error) {
	l, err := b.proxies(ctx, "hello", []string{nginx})
	defer l.stop()
	rows, theirs := l.rows, l.way(nginx)
	if err != nil || theirs == nil {
		return rows, err
	}
	var each [2]float64
	for i, p := range []*proxied{l.ours(), theirs} {
		if each[i], err = p.idleConnection(ctx); err != nil {
			return nil, err
		}
	}
	return []row{row{
		what: fmt.Sprintf("memory of an idle client connection (of %d)", idleConns), ours: fmt.Sprintf("%.2f KB", each[0]),
		beside: fmt.Sprintf("nginx %.2f KB", each[1]), ratio: fmt.Sprintf("%.2fx", each[0]/each[1]),
	}.atMost(each[0], idleConnGoal, " KB")}, nil
}

// idleConnection gives KB for each connection: the unshared memory with many, less that before.
func (p *proxied) idleConnection(ctx context.Context) (float64, error) {
	used := func() (float64, error) {
		if err := wait(ctx, idleConnTime); err != nil {
			return 0, err
		}
		pids, err := p.pids()
		if err != nil {
			return 0, err
		}
		return unshared(pids...)
	}
	if _, err := load.Run(ctx, load.Window{Target: p.target, Path: "/", Conns: 32, For: gatewayWindow}); err != nil {
		return 0, err
	}
	before, err := used()
	if err != nil {
		return 0, err
	}
	closeAll, err := load.Idle(ctx, p.target, idleConns)
	if err != nil {
		return 0, err
	}
	defer closeAll()
	after, err := used()
	return (after - before) * 1024 / idleConns, err
}
