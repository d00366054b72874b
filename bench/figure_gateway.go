package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/peer"
	"github.com/svcctl/svcctl/bench/internal/proc"
)

const (
	gatewayRounds = 5
	gatewayWindow = 2 * time.Second
	caddyGoal     = 1.1
)

// proxied is one way to a worker, and what was measured of it, by round.
type proxied struct {
	name      string
	target    load.Target
	worked    func() (time.Duration, error) // processor time of the proxy; nil for none
	perSecond []float64
	cpu       []float64 // µs of that per request
}

// gateway: hello world through our gateway to our worker, beside reverse proxies
// in front of a bare workerd, which they reach as we do, by a unix socket.
func gateway(ctx context.Context, b *bench) ([]row, error) {
	daemon, err := b.program.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer daemon.Stop()
	target, err := daemon.Deploy(ctx, "hello")
	if err != nil {
		return nil, err
	}
	bare, err := b.peers.Bare(ctx, "hello")
	if err != nil {
		return nil, err
	}
	defer bare.Stop()
	ways := []*proxied{
		// The daemon's own process: the worker hosts and workerd that it started are no part of the gateway.
		{name: svcctl, target: target, worked: func() (time.Duration, error) { return proc.Worked(daemon.PID) }},
		{name: "bare workerd", target: bare.Target},
	}
	var rows []row
	for _, kind := range peer.Proxies() {
		proxy, err := b.peers.Proxy(ctx, kind, bare.Socket)
		if errors.Is(err, peer.ErrAbsent) {
			rows = append(rows, row{what: gatewayTitle, beside: kind + " absent"})
			continue
		}
		if err != nil {
			return nil, err
		}
		defer proxy.Stop()
		// nginx works in children.
		ways = append(ways, &proxied{name: kind, target: proxy.Target, worked: func() (time.Duration, error) { return proc.WorkedAll(proxy.PID) }})
	}
	for _, conns := range []int{1, 8, 32} {
		more, err := compareGateways(ctx, conns, ways)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	more, err := compareSteady(ctx, ways)
	return append(rows, more...), err
}

const gatewayTitle = "gateway, hello world"

// compareGateways measures the ways in turn. The first round warms up.
func compareGateways(ctx context.Context, conns int, ways []*proxied) ([]row, error) {
	subjects := make([]subject, len(ways))
	for i, p := range ways {
		p.cpu = nil
		subjects[i] = func() (float64, error) { return p.measure(ctx, conns) }
	}
	figures, err := alternate(1+gatewayRounds, subjects...)
	if err != nil {
		return nil, err
	}
	for i, p := range ways {
		p.perSecond = figures[i][1:]
	}
	return gatewayRows(conns, ways), nil
}

// measure measures one window.
func (p *proxied) measure(ctx context.Context, conns int) (float64, error) {
	before, err := p.processorTime()
	if err != nil {
		return 0, err
	}
	r, err := load.Run(ctx, load.Window{Target: p.target, Path: "/", Expect: "Hello, world!", Conns: conns, For: gatewayWindow})
	if err != nil {
		return 0, err
	}
	after, err := p.processorTime()
	p.cpu = append(p.cpu, float64((after-before).Microseconds())/float64(r.Requests))
	return r.PerSecond, err
}

func (p *proxied) processorTime() (time.Duration, error) {
	if p.worked == nil {
		return 0, nil
	}
	return p.worked()
}

// gatewayRows compares the first with each of the others.
func gatewayRows(conns int, ways []*proxied) (rows []row) {
	ours := ways[0]
	for _, p := range ways[1:] {
		times := ratio(ours.perSecond, p.perSecond)
		r := row{
			what: fmt.Sprintf("%s, %d connections", gatewayTitle, conns), ours: fmt.Sprintf("%.0f/s", median(ours.perSecond)),
			beside: fmt.Sprintf("%s %.0f/s", p.name, median(p.perSecond)), ratio: fmt.Sprintf("%.2fx", times),
		}
		if p.name == "caddy" {
			r = r.atLeast(times, caddyGoal, "x")
		}
		rows = append(rows, r)
		if p.worked == nil {
			continue
		}
		rows = append(rows, row{
			what: fmt.Sprintf("%s, %d connections, CPU per request", gatewayTitle, conns), ours: fmt.Sprintf("%.0f µs", median(ours.cpu[1:])),
			beside: fmt.Sprintf("%s %.0f µs", p.name, median(p.cpu[1:])), ratio: fmt.Sprintf("%.2fx", ratio(ours.cpu[1:], p.cpu[1:])),
		})
	}
	return rows
}
