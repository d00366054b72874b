package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/peer"
	"github.com/svcctl/svcctl/bench/internal/proc"
)

const (
	relayRounds = 15
	relayWindow = time.Second
	relayConns  = 32
)

// relay is a proxy in front of the one worker, and what was measured of it, by
// round.
type relay struct {
	name      string
	running   *peer.Running
	perSecond []float64
	cpu       []float64 // µs of processor time per request, of the proxy's processes
}

// relays: what a request costs a reverse proxy, for the gateway's engines and what
// could stand in their place. All are in front of the same worker, at the same
// unix socket, so what differs is the proxy.
func relays(ctx context.Context, b *bench) ([]row, error) {
	worker, err := b.peers.Bare(ctx, "echo")
	if err != nil {
		return nil, err
	}
	defer worker.Stop()
	proxies, rows, err := b.startRelays(ctx, worker.Socket)
	defer func() {
		for _, r := range proxies {
			r.running.Stop()
		}
	}()
	if err != nil {
		return nil, err
	}
	proxies = append(proxies, &relay{name: "no proxy", running: worker})
	body := strings.Repeat("0123456789abcdef", 640)
	for _, w := range []load.Window{
		{Expect: "Hello, world!"},
		{Expect: body[:16], Body: body},
	} {
		w.Path, w.Conns, w.For = "/", relayConns, relayWindow
		more, err := measureRelays(ctx, w, proxies)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// startRelays starts what is installed, ours first. What is not has a row.
func (b *bench) startRelays(ctx context.Context, worker load.Target) (proxies []*relay, rows []row, err error) {
	for _, kind := range append(peer.Relays(), "nginx") {
		start := b.peers.Relay
		if kind == "nginx" {
			start = b.peers.Proxy
		}
		running, err := start(ctx, kind, worker)
		if errors.Is(err, peer.ErrAbsent) {
			rows = append(rows, row{what: "relay", beside: kind + " absent"})
			continue
		}
		if err != nil {
			return proxies, nil, err
		}
		proxies = append(proxies, &relay{name: kind, running: running})
	}
	return proxies, rows, nil
}

// measureRelays measures one kind of request, turn by turn.
func measureRelays(ctx context.Context, w load.Window, proxies []*relay) ([]row, error) {
	subjects := make([]subject, len(proxies))
	for i, r := range proxies {
		r.cpu = nil
		subjects[i] = func() (float64, error) { return r.measure(ctx, w) }
	}
	figures, err := alternate(1+relayRounds, subjects...)
	if err != nil {
		return nil, err
	}
	for i, r := range proxies {
		r.perSecond, r.cpu = figures[i][1:], r.cpu[1:] // the first round only warms up
	}
	return relayRows(w, proxies), nil
}

// measure measures one window.
func (r *relay) measure(ctx context.Context, w load.Window) (float64, error) {
	before, err := proc.WorkedAll(r.running.PID)
	if err != nil {
		return 0, err
	}
	w.Target = r.running.Target
	result, err := load.Run(ctx, w)
	if err != nil {
		return 0, err
	}
	after, err := proc.WorkedAll(r.running.PID)
	r.cpu = append(r.cpu, float64((after-before).Microseconds())/float64(result.Requests))
	return result.PerSecond, err
}

// relayRows compares the first with each of the others, in requests and in
// processor time.
func relayRows(w load.Window, proxies []*relay) (rows []row) {
	title := "GET, hello world"
	if w.Body != "" {
		title = fmt.Sprintf("POST of %d KB, echoed", len(w.Body)>>10)
	}
	ours := proxies[0]
	for _, r := range proxies[1:] {
		rows = append(rows, row{
			what: title + ", requests", ours: fmt.Sprintf("%.0f/s", median(ours.perSecond)),
			beside: fmt.Sprintf("%s %.0f/s", r.name, median(r.perSecond)), ratio: fmt.Sprintf("%.2fx", ratio(ours.perSecond, r.perSecond)),
		})
	}
	for _, r := range proxies[1 : len(proxies)-1] {
		rows = append(rows, row{
			what: title + ", CPU per request", ours: fmt.Sprintf("%.0f µs", median(ours.cpu)),
			beside: fmt.Sprintf("%s %.0f µs", r.name, median(r.cpu)), ratio: fmt.Sprintf("%.2fx", ratio(ours.cpu, r.cpu)),
		})
	}
	return rows
}
