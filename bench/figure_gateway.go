package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/peer"
)

const (
	gatewayRounds = 5
	gatewayWindow = 2 * time.Second
	gatewayConns  = 32
	caddyGoal     = 1.1
)

// gateway: requests per second of hello world through our gateway to our worker,
// beside reverse proxies in front of a bare workerd.
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
	names, subjects := []string{"ours", "bare workerd"}, []subject{throughput(ctx, target), throughput(ctx, bare.Target)}
	var rows []row
	for _, kind := range peer.Proxies() {
		proxy, err := b.peers.Proxy(ctx, kind, bare.Target)
		if errors.Is(err, peer.ErrAbsent) {
			rows = append(rows, row{what: gatewayTitle, beside: kind + " absent"})
			continue
		}
		if err != nil {
			return nil, err
		}
		defer proxy.Stop()
		names, subjects = append(names, kind), append(subjects, throughput(ctx, proxy.Target))
	}
	figures, err := alternate(1+gatewayRounds, subjects...)
	if err != nil {
		return nil, err
	}
	return append(gatewayRows(names, figures), rows...), nil
}

const gatewayTitle = "gateway, hello world, 32 connections"

// throughput measures one window.
func throughput(ctx context.Context, t load.Target) subject {
	return func() (float64, error) {
		r, err := load.Run(ctx, load.Window{Target: t, Path: "/", Expect: "Hello, world!", Conns: gatewayConns, For: gatewayWindow})
		return r.PerSecond, err
	}
}

// gatewayRows compares the first with each of the others. The first round only
// warmed up.
func gatewayRows(names []string, figures [][]float64) []row {
	for i := range figures {
		figures[i] = slices.Delete(figures[i], 0, 1)
	}
	var rows []row
	for i, name := range names[1:] {
		times := ratio(figures[0], figures[i+1])
		r := row{
			what: gatewayTitle, ours: fmt.Sprintf("%.0f/s", median(figures[0])),
			beside: fmt.Sprintf("%s %.0f/s", name, median(figures[i+1])), ratio: fmt.Sprintf("%.2fx", times),
		}
		if name == "caddy" {
			r = r.atLeast(times, caddyGoal, "x")
		}
		rows = append(rows, r)
	}
	return rows
}
