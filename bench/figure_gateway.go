package main

import (
	"context"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/peer"
)

const (
	gatewayRounds = 5
	gatewayWindow = 2 * time.Second
	caddyGoal     = 1.1
	nginxCPUGoal  = 1
)

// nginxGoals are requests per second, of nginx's, by the number of connections.
func nginxGoals() map[int]float64 { return map[int]float64{1: 1, 8: 1, 32: 0.95} }

// proxied is one way to a worker, and what was measured of it, by round.
type proxied struct {
	name      string
	target    load.Target
	pids      func() ([]int, error)         // processes of the proxy; nil for none
	worked    func() (time.Duration, error) // their processor time; nil for none
	perSecond []float64
	cpu       []float64 // µs of that per request
}

// gateway: hello world through our gateway to our worker, beside reverse proxies
// in front of a bare workerd, which they reach as we do, by a unix socket.
func gateway(ctx context.Context, b *bench) ([]row, error) {
	l, err := b.proxies(ctx, "hello", peer.Proxies())
	defer l.stop()
	if err != nil {
		return nil, err
	}
	ways, rows := l.ways, l.rows
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
		subjects[i] = func() (float64, error) {
			r, err := p.measure(ctx, load.Window{Path: "/", Expect: "Hello, world!", Conns: conns, For: gatewayWindow})
			return r.PerSecond, err
		}
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
func (p *proxied) measure(ctx context.Context, w load.Window) (load.Result, error) {
	before, err := p.processorTime()
	if err != nil {
		return load.Result{}, err
	}
	w.Target = p.target
	r, err := load.Run(ctx, w)
	if err != nil {
		return r, err
	}
	after, err := p.processorTime()
	p.cpu = append(p.cpu, float64((after-before).Microseconds())/float64(r.Requests))
	return r, err
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
		switch p.name {
		case "caddy":
			r = r.atLeast(times, caddyGoal, "x")
		case nginx:
			r = r.atLeast(times, nginxGoals()[conns], "x")
		}
		rows = append(rows, r)
		if p.worked == nil {
			continue
		}
		rows = append(rows, goalRow(fmt.Sprintf("%s, %d connections", gatewayTitle, conns), ours, p))
	}
	return rows
}

// goalRow is a cpuRow with the goal beside nginx.
func goalRow(what string, ours, p *proxied) row {
	r := cpuRow(what, ours, p)
	if p.name == nginx {
		r = r.atMost(ratio(ours.cpu[1:], p.cpu[1:]), nginxCPUGoal, "x")
	}
	return r
}

// cpuRow compares the processor time per request of two proxies. The first round warmed up.
func cpuRow(what string, ours, p *proxied) row {
	return row{
		what: what + ", CPU per request", ours: fmt.Sprintf("%.0f µs", median(ours.cpu[1:])),
		beside: fmt.Sprintf("%s %.0f µs", p.name, median(p.cpu[1:])), ratio: fmt.Sprintf("%.2fx", ratio(ours.cpu[1:], p.cpu[1:])),
	}
}
