package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/peer"
	"github.com/svcctl/svcctl/bench/internal/proc"
)

const filesGoal = 0.7 // of nginx's requests per second

// files: a static file of 10 KB from our gateway, and from nginx.
func files(ctx context.Context, b *bench) ([]row, error) {
	dir, err := writeSite(b.program.Scratch)
	if err != nil {
		return nil, err
	}
	daemon, err := b.program.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer daemon.Stop()
	target, err := daemon.DeployDir(ctx, dir, "bench-files", "one")
	if err != nil {
		return nil, err
	}
	server, err := b.peers.Files(ctx, filepath.Join(dir, "public"))
	if errors.Is(err, peer.ErrAbsent) {
		return []row{{what: "static files", beside: "nginx absent"}}, nil
	}
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	return compareFiles(ctx, daemon.PID,
		&proxied{name: svcctl, target: target, worked: func() (time.Duration, error) { return proc.Worked(daemon.PID) }},
		&proxied{name: nginx, target: server.Target, worked: func() (time.Duration, error) { return proc.WorkedAll(server.PID) }})
}

// writeSite writes a project with a file of 10 KB and returns its directory.
func writeSite(scratch string) (string, error) {
	dir := filepath.Join(scratch, "files")
	public := filepath.Join(dir, "public")
	if err := os.MkdirAll(public, 0o755); err != nil { //nolint:gosec // G301: nginx reads it
		return "", err
	}
	for name, text := range map[string]string{
		filepath.Join(dir, "wrangler.jsonc"): `{ "name": "bench-files", "compatibility_date": "2026-06-01", "assets": { "directory": "public" } }`,
		filepath.Join(public, "index.html"):  "a page",
		filepath.Join(public, "ten.txt"):     strings.Repeat("0123456789abcdef", 640),
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil { //nolint:gosec // G306: nginx reads it
			return "", err
		}
	}
	return dir, nil
}

// compareFiles measures both in turn; the first round warms up. The last row is the memory of
// our process after all of it.
func compareFiles(ctx context.Context, pid int, ours, theirs *proxied) (rows []row, err error) {
	before, err := proc.Unshared(pid)
	if err != nil {
		return nil, err
	}
	for _, conns := range []int{1, 8, 32} {
		ours.cpu, theirs.cpu = nil, nil
		w := load.Window{Path: "/ten.txt", Expect: "0123456789abcdef", Conns: conns, For: gatewayWindow}
		figures, err := alternate(1+gatewayRounds, perSecond(ctx, ours, w), perSecond(ctx, theirs, w))
		if err != nil {
			return nil, err
		}
		what := fmt.Sprintf("static file of 10 KB, %d connections", conns)
		times := ratio(figures[0][1:], figures[1][1:])
		rows = append(rows, row{
			what: what, ours: fmt.Sprintf("%.0f/s", median(figures[0][1:])),
			beside: fmt.Sprintf("nginx %.0f/s", median(figures[1][1:])), ratio: fmt.Sprintf("%.2fx", times),
		}.atLeast(times, filesGoal, "x"), cpuRow(what, ours, theirs))
	}
	after, err := proc.Unshared(pid)
	return append(rows, row{
		what: "unshared memory of the daemon after these", ours: fmt.Sprintf("%.0f MiB", float64(after)/(1<<20)), beside: fmt.Sprintf("before %.0f MiB", float64(before)/(1<<20)),
	}), err
}
