package peer

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/proc"
)

// Relays are the names that Relay knows.
func Relays() []string { return []string{"loop", "go", "reverseproxy"} }

// relayDomain is the base domain of the gateways that Relay starts.
const relayDomain = "bench.test"

// Relay starts one of the proxies of the command relay in front of a worker that
// listens at a unix socket.
func (p *Peers) Relay(ctx context.Context, kind string, worker load.Target) (*Running, error) {
	dir, err := p.dir("relay")
	if err != nil {
		return nil, err
	}
	program := filepath.Join(p.Scratch, "relay")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./relay")
	build.Dir = p.Root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the relay: %w: %s", err, out)
	}
	port, err := proc.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	args := []string{
		program, "-kind", kind, "-listen", fmt.Sprintf("127.0.0.1:%d", port),
		"-socket", worker.Address, "-domain", relayDomain,
	}
	return run(ctx, proc.Spec{Args: args, Dir: dir}, "v1.relay."+relayDomain, port)
}
