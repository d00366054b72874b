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
	compressionRounds = 7
	compressionWindow = time.Second
	compressionConns  = 4
)

// encoded is a page in one encoding from one proxy, and what was measured of it, by round.
type encoded struct {
	proxy, encoding string
	target          load.Target
	worked          func() (time.Duration, error) // processor time of the proxy
	cpu             []float64                     // µs of that per response
	bytes           int64                         // of the body, as it was sent
}

// compression: what it costs the gateway to compress a page, in each encoding, beside
// the same page uncompressed and beside nginx, which has gzip only.
func compression(ctx context.Context, b *bench) ([]row, error) {
	daemon, err := b.program.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer daemon.Stop()
	target, err := daemon.Deploy(ctx, "page")
	if err != nil {
		return nil, err
	}
	var pages []*encoded
	for _, encoding := range []string{"identity", "gzip", "br", "zstd"} {
		pages = append(pages, &encoded{proxy: svcctl, encoding: encoding, target: target, worked: func() (time.Duration, error) { return proc.Worked(daemon.PID) }})
	}
	bare, err := b.peers.Bare(ctx, "page")
	if err != nil {
		return nil, err
	}
	defer bare.Stop()
	nginx, err := b.peers.Proxy(ctx, "nginx", bare.Socket)
	switch {
	case errors.Is(err, peer.ErrAbsent):
	case err != nil:
		return nil, err
	default:
		defer nginx.Stop()
		pages = append(pages, &encoded{proxy: "nginx", encoding: "gzip", target: nginx.Target, worked: func() (time.Duration, error) { return proc.WorkedAll(nginx.PID) }})
	}
	return measurePages(ctx, pages)
}

// measurePages measures the pages in turn. The first round warms up.
func measurePages(ctx context.Context, pages []*encoded) ([]row, error) {
	subjects := make([]subject, len(pages))
	for i, p := range pages {
		subjects[i] = func() (float64, error) { return p.measure(ctx) }
	}
	figures, err := alternate(1+compressionRounds, subjects...)
	if err != nil {
		return nil, err
	}
	for i, p := range pages {
		p.cpu = figures[i][1:]
	}
	return pageRows(pages), nil
}

func (p *encoded) measure(ctx context.Context) (float64, error) {
	before, err := p.worked()
	if err != nil {
		return 0, err
	}
	r, err := load.Fetch(ctx, load.Window{Target: p.target, Path: "/", Conns: compressionConns, For: compressionWindow}, p.encoding)
	if err != nil {
		return 0, fmt.Errorf("%s, %s: %w", p.proxy, p.encoding, err)
	}
	after, err := p.worked()
	p.bytes = r.Bytes
	return float64((after - before).Microseconds()) / float64(r.Requests), err
}

// pageRows compares each encoding with the uncompressed page, and gzip with nginx's.
func pageRows(pages []*encoded) (rows []row) {
	plain, ours := pages[0], map[string]*encoded{}
	for _, p := range pages[1:] {
		mine, beside := p, plain
		if p.proxy != svcctl {
			mine, beside = ours[p.encoding], p
		}
		ours[mine.encoding] = mine
		rows = append(rows, row{
			what:   fmt.Sprintf("page of %d KB, %s: %d KB, CPU per response", plain.bytes>>10, mine.encoding, mine.bytes>>10),
			ours:   fmt.Sprintf("%.0f µs", median(mine.cpu)),
			beside: fmt.Sprintf("%s, %s: %d KB %.0f µs", beside.proxy, beside.encoding, beside.bytes>>10, median(beside.cpu)),
			ratio:  fmt.Sprintf("%.2fx", ratio(mine.cpu, beside.cpu)),
		})
	}
	return rows
}
