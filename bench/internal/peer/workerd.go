package peer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/proc"
)

const workerdConfig = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = .w) ],
  sockets = [
    (name = "http", address = "127.0.0.1:%d", http = (), service = "main"),
    (name = "unix", address = "unix:%s", http = (), service = "main"),
  ],
);
const w :Workerd.Worker = (
  modules = [ (name = "index.js", esModule = embed "index.js") ],
  compatibilityDate = "2026-06-01",
);
`

// Bare starts workerd itself with a fixture that has no bindings. It listens at
// a unix socket too, for proxies.
func (p *Peers) Bare(ctx context.Context, fixture string) (*Running, error) {
	dir, err := p.dir("bare")
	if err != nil {
		return nil, err
	}
	port, err := proc.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	source, err := os.ReadFile(filepath.Join(p.fixture(fixture), "src/index.js"))
	if err != nil {
		return nil, err
	}
	if err := write(dir, "index.js", string(source)); err != nil {
		return nil, err
	}
	socket := filepath.Join(dir, "w")
	if err := write(dir, "config.capnp", fmt.Sprintf(workerdConfig, port, socket)); err != nil {
		return nil, err
	}
	running, err := run(ctx, proc.Spec{Args: []string{p.Workerd, "serve", "config.capnp"}, Dir: dir}, "localhost", port)
	if err == nil {
		running.Socket = load.Target{Network: "unix", Address: socket, Host: "localhost"}
	}
	return running, err
}

// Miniflare starts a fixture under miniflare's Node API.
func (p *Peers) Miniflare(ctx context.Context, fixture string) (*Running, error) {
	return p.MiniflareAt(ctx, p.fixture(fixture))
}
