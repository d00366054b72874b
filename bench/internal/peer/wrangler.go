package peer

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/svcctl/svcctl/bench/internal/proc"
)

// Wrangler starts wrangler dev in a worker directory.
func (p *Peers) Wrangler(ctx context.Context, worker string) (*Running, error) {
	dir, err := p.dir("wrangler")
	if err != nil {
		return nil, err
	}
	port, err := proc.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	return run(ctx, proc.Spec{
		Args: []string{
			p.Node, "--no-warnings", filepath.Join(p.Root, "node_modules/wrangler/bin/wrangler.js"), "dev", "--cwd", worker, "--ip", "127.0.0.1", "--port", fmt.Sprint(port),
			"--inspector-port", "0", "--persist-to", dir, "--log-level", "error", "--show-interactive-dev-session=false",
		},
		Dir: dir, Env: []string{"CI=1", "WRANGLER_SEND_METRICS=false", "CLOUDFLARE_CF_FETCH_ENABLED=false", "HOME=" + dir, "MINIFLARE_WORKERD_PATH=" + p.Workerd},
	}, fmt.Sprintf("127.0.0.1:%d", port), port)
}

// MiniflareAt starts a worker directory under miniflare's Node API. It reads the worker
// again after SIGUSR2.
func (p *Peers) MiniflareAt(ctx context.Context, worker string) (*Running, error) {
	dir, err := p.dir("miniflare")
	if err != nil {
		return nil, err
	}
	port, err := proc.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	return run(ctx, proc.Spec{
		Args: []string{p.Node, "--no-warnings", filepath.Join(p.Root, "drivers/miniflare.mjs"), worker, dir, fmt.Sprint(port)},
		Dir:  dir, Env: []string{"MINIFLARE_WORKERD_PATH=" + p.Workerd},
	}, "localhost", port)
}
