package local

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/client/dev"
	"github.com/svcctl/svcctl/internal/client/front"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/lib/buildinfo"
	"github.com/svcctl/svcctl/internal/obs"
	"github.com/svcctl/svcctl/internal/server/daemon"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// pace is the time between two looks at a deploy, which takes some 50 ms.
const pace = 2 * time.Millisecond

// Config configures a server in this process.
type Config struct {
	Environ    []string // of the program
	Command    []string // our own binary, for child processes
	Installing func(stage string)
	Inspect    bool // debuggers can attach to the workers
}

// Start starts a server below p.Dir and returns when it serves. Its log is dev.log.
func Start(ctx context.Context, c Config, p dev.Place) (*dev.Server, error) {
	cfg, err := config.LoadDaemon(config.Source{Environ: environ(c.Environ, p)})
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(p.Dir, "dev.log"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of watch mode: %w", err)
	}
	d, err := daemon.Start(ctx, daemon.Config{
		Settings: cfg, Command: c.Command, Installing: c.Installing, Inspect: c.Inspect, WatchMode: true,
		Logger: obs.NewLogger(log, obs.LogOptions{Level: slog.LevelInfo}),
	})
	if err != nil {
		_ = log.Close()
		return nil, err
	}
	stop := func(ctx context.Context) error {
		defer log.Close()
		return d.Stop(ctx)
	}
	s, err := server(d, cfg)
	if err != nil {
		_ = stop(ctx) // the error of the start matters
		return nil, err
	}
	s.Stop = stop
	return s, nil
}

func server(d *daemon.Daemon, cfg *config.Daemon) (*dev.Server, error) {
	note, err := config.ReadNote(cfg.DataDir)
	if err != nil {
		return nil, fmt.Errorf("reading the tokens of watch mode: %w", err)
	}
	c, err := client.New(d.Info().API, client.Tokens{Deploy: note.DeployToken, Admin: note.AdminToken},
		client.Options{UserAgent: "svcctl-dev/" + buildinfo.Read().Version})
	if err != nil {
		return nil, err
	}
	gateway, err := url.Parse(d.Info().GatewayListens)
	if err != nil {
		return nil, fmt.Errorf("the address of the gateway: %w", err)
	}
	return &dev.Server{
		Client: c, Own: true, Bundles: true, Pace: pace, Failed: d.Failed(), Named: named,
		Target: func(v api.Version) front.Target {
			return front.Target{Version: v.ID, URL: gateway, Header: d.Direct(svc.Ref{Project: v.ProjectID, Version: v.ID})}
		},
		ShowFiles: func(ctx context.Context, in, of api.Version) error {
			return d.ShowFiles(ctx, svc.Ref{Project: in.ProjectID, Version: in.ID}, svc.Ref{Project: of.ProjectID, Version: of.ID})
		},
		Inspector: func(v api.Version) string { return d.Inspector(svc.Ref{Project: v.ProjectID, Version: v.ID}) },
	}, nil
}

// named reports whether a request's host is {version}.{project}.localhost.
func named(r *http.Request) bool {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return front.IsLocal(host) && strings.Count(strings.Trim(host, "."), ".") > 1
}

// passed are the operator's settings that a developer may want, too.
//
//nolint:gochecknoglobals // a constant table
var passed = []string{"PATH", "HOME", "TMPDIR", "GORACE", "XDG_CACHE_HOME", "XDG_STATE_HOME", "SVC_WORKERD", "SVC_WORKER_HEAP_MB", "SVC_WORKER_ALLOW", "SVC_WORKER_DENY", "SVC_WORKER_START_TIMEOUT", "SVC_WORKER_START_CPU", "SVC_SPARE_HOSTS", "SVC_FAILPOINT"}

// machine lists the addresses that workers on a server do not reach, and a developer's
// worker does: this machine and the networks that it is in.
func machine() []string {
	list := []string{
		"127.0.0.0/8", "::/96", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "198.18.0.0/15",
		"fc00::/7", "fe80::/10",
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return list // the ranges hold most of them
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok {
			if addr, ok := netip.AddrFromSlice(n.IP); ok {
				addr = addr.Unmap()
				list = append(list, netip.PrefixFrom(addr, addr.BitLen()).String())
			}
		}
	}
	return list
}

// environ is the environment that the daemon's settings are read from: the settings of
// a server of this user do not apply to watch mode.
func environ(of []string, p dev.Place) []string {
	list := []string{"SVC_WORKER_ALLOW=" + strings.Join(machine(), ",")} // a later entry of the same name counts
	for _, entry := range of {
		if name, _, _ := strings.Cut(entry, "="); slices.Contains(passed, name) {
			list = append(list, entry)
		}
	}
	return append(list,
		"SVC_DATA_DIR="+filepath.Join(p.Dir, "data"), "ARTIFACTS_DIR="+filepath.Join(p.Dir, dev.BundlesDir), "PLATFORM_PORT=0", "GATEWAY_PORT=0", "SVC_EMBEDDED_S3_ADDR=off",
		"SVC_INGRESS_BASE_DOMAIN=localhost", "GATEWAY_URL="+p.Address, "SVC_LOG_FORMAT=json",
	)
}
