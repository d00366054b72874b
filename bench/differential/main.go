// Command differential sends the same calls to a worker under wrangler dev and to the same
// worker deployed here, and compares status, fields and bodies. Differences that the table of
// docs/reference/wrangler-dev.md lists are known; any other one fails, and so does a row that
// no call needs any more.
//
// The calls are in calls/, the worker is bench/fixtures/differential. It needs npm (make
// differential installs wrangler) and no network.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/bench/internal/ours"
	"github.com/svcctl/svcctl/bench/internal/proc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

const fixture = "differential"

func main() {
	root := flag.String("root", "..", "directory of the bench module")
	svcctl := flag.String("svcctl", "../../bin/svcctl", "program under test")
	only := flag.String("only", "", "beginning of the names of the calls (default: all)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *root, *svcctl, *only); err != nil {
		fmt.Fprintln(os.Stderr, "differential:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root, svcctl, only string) error {
	calls, err := readCalls(filepath.Join(root, "differential/calls"))
	if err != nil {
		return err
	}
	table, err := readKnown(filepath.Join(root, "../docs/reference/wrangler-dev.md"))
	if err != nil {
		return err
	}
	if err := proc.Adopt(); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "differential-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	server, err := start(ctx, root, svcctl, scratch)
	if err != nil {
		return err
	}
	defer server.Stop()
	s := &suite{calls: calls, only: only, table: table}
	for _, name := range fixtures(calls, only) {
		p, err := prepare(root, scratch, name)
		if err != nil {
			return err
		}
		if err := s.project(ctx, server, p); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return s.result()
}

// suite is the calls and both sides of the project that is asked now.
type suite struct {
	calls       []call
	only        string
	table       *known
	here, there *side

	asked, differ, failed int
}

// project runs a project on both sides and compares the answers to its calls.
func (s *suite) project(ctx context.Context, server *ours.Daemon, p project) (err error) {
	if s.here, err = deploy(ctx, server, p); err != nil {
		return err
	}
	there, stop, err := wrangler(ctx, p, s.here.host)
	if err != nil {
		return err
	}
	defer stop()
	s.there = there
	return s.compare(ctx, p.name)
}

// compare asks both sides for each call, in order: calls build on the data of earlier ones.
// Differences of calls whose names begin with only are printed.
func (s *suite) compare(ctx context.Context, name string) error {
	for _, c := range s.calls {
		if c.fixture != name {
			continue
		}
		list, err := s.ask(ctx, c)
		if err != nil {
			return err
		}
		s.asked++
		s.differ += len(list)
		for _, d := range list {
			if !s.table.has(c.name, d.what) && strings.HasPrefix(c.name, s.only) {
				s.failed++
				fmt.Printf("%s: %s\n  wrangler dev: %s\n  here:         %s\n", c.name, d.what, d.theirs, d.ours)
			}
		}
	}
	return nil
}

func (s *suite) result() error {
	if s.only == "" {
		for _, row := range s.table.unused() {
			s.failed++
			fmt.Println("no call needs this row of the table any more:", row)
		}
	}
	fmt.Printf("%d calls, %d differences, %d not in the table\n", s.asked, s.differ, s.failed)
	return failure(s.failed)
}

func (s *suite) ask(ctx context.Context, c call) ([]difference, error) {
	var theirs, mine *answer
	var failed [2]error
	var both sync.WaitGroup
	both.Go(func() { theirs, failed[0] = s.there.ask(ctx, c) })
	both.Go(func() { mine, failed[1] = s.here.ask(ctx, c) })
	both.Wait()
	if failed[0] != nil {
		return nil, fmt.Errorf("wrangler dev: %s: %w", c.name, failed[0])
	}
	if failed[1] != nil {
		return nil, fmt.Errorf("%s: %w", c.name, failed[1])
	}
	return differ(theirs, mine), nil
}

func failure(n int) error {
	if n == 0 {
		return nil
	}
	return errors.New("the answers differ; fix them, or list the difference with its reason in docs/reference/wrangler-dev.md")
}

// start starts a server.
func start(ctx context.Context, root, svcctl, scratch string) (*ours.Daemon, error) {
	workerd, err := filepath.Abs(filepath.Join(root, "differential/node_modules/@cloudflare/workerd-linux-64/bin/workerd"))
	if err != nil {
		return nil, err
	}
	program := &ours.Program{Path: svcctl, Root: root, Scratch: scratch, Workerd: workerd}
	if program.Path, err = filepath.Abs(svcctl); err != nil {
		return nil, err
	}
	return program.Start(ctx)
}

// deploy deploys a project.
func deploy(ctx context.Context, server *ours.Daemon, p project) (*side, error) {
	target, err := server.DeployDir(ctx, p.dir, p.id, "one")
	if err != nil {
		return nil, err
	}
	side := newSide(target.Address, target.Host)
	side.scheduled = func(ctx context.Context, e *scheduled) (*answer, error) { return trigger(ctx, server.Client, e) }
	return side, nil
}

// trigger runs the scheduled handler, and answers as wrangler dev does.
func trigger(ctx context.Context, c *client.Client, e *scheduled) (*answer, error) {
	at := api.Time{Time: time.UnixMilli(e.at).UTC()}
	run, err := c.TriggerScheduled(ctx, "bench-"+fixture, "one", api.TriggerScheduled{Cron: e.cron, ScheduledTime: &at})
	if err != nil {
		return nil, err
	}
	return &answer{steps: []any{map[string]any{"outcome": string(run.Outcome), "noRetry": run.NoRetry}}}, nil
}
