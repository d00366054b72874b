package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/cli/whole"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/fleet/agent"
	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/fleet/process"
	"github.com/svcctl/svcctl/internal/host/provision"
	"github.com/svcctl/svcctl/internal/lib/buildinfo"
	"github.com/svcctl/svcctl/internal/lib/cgroup"
	"github.com/svcctl/svcctl/internal/server/daemon"
	"github.com/svcctl/svcctl/internal/svc"
)

// hosting runs worker hosts for a daemon on another machine.
type hosting struct{ whole.Host }

func runHost(ctx context.Context, k *kit.Kit, h whole.Host) error { return hosting{h}.run(ctx, k) }

func (h hosting) run(ctx context.Context, k *kit.Kit) error {
	addr, err := h.target()
	if err != nil {
		return err
	}
	token, secret, err := h.token()
	if err != nil {
		return err
	}
	cfg, err := config.LoadDaemon(config.Source{Environ: k.Environ})
	if err != nil {
		return kit.Usagef("%v", err)
	}
	log := newLogger(ctx, k, cfg, cfg.LogLevel)
	if h.Name == "" {
		h.Name, _ = os.Hostname() // a machine without a name has an identity all the same
	}
	dir, err := filepath.Abs(h.Dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return err
	}
	c, closers, err := h.process(ctx, k, cfg, dir, log)
	if err != nil {
		return err
	}
	err = agent.Run(ctx, agent.Config{
		Logger: log, Daemon: addr, Token: token, Secret: secret, Machine: h.Machine, Drain: h.Drain, Name: h.Name, Release: buildinfo.Read().Version, Dir: dir, Seats: h.Seats,
		Listen: h.Listen, Address: h.Address, Process: c, Unpack: fetcher{dir: dir, sync: h.Machine == ""}.unpack,
	})
	for _, c := range closers {
		err = errors.Join(err, c.Close())
	}
	return err
}

// target reads where to join.
func (h hosting) target() (addr string, err error) {
	u, err := url.Parse(h.Join)
	switch {
	case err != nil || u.Scheme != "https" || u.Port() == "":
		return "", kit.Usagef("--join: want https://HOST:PORT, the SVC_HOSTS_ADDR of the server")
	case h.Seats < 1:
		return "", kit.Usagef("--seats: want at least 1")
	case h.Address != "" && h.Listen == "":
		return "", kit.Usagef("--address is for --listen, which is not set")
	case h.TokenFile == "":
		return "", kit.Usagef("--token-file is required: the output of svcctl admin hosts token on the machine of the server")
	}
	return u.Host, nil
}

// token reads by which token to join. secret is nil for a join token.
func (h hosting) token() (t join.Token, secret func() (svc.Secret, error), err error) {
	text, err := os.ReadFile(h.TokenFile)
	if err != nil {
		return t, nil, err
	}
	if h.CAFile == "" {
		t, err = join.ParseToken(string(text))
		return t, nil, err
	}
	ca, err := os.ReadFile(h.CAFile)
	if err == nil {
		t.Pin, err = join.PinOf(ca)
	}
	if err != nil {
		return t, nil, kit.Usagef("--ca-file: %v", err)
	}
	return t, func() (svc.Secret, error) {
		text, err := os.ReadFile(h.TokenFile)
		return svc.Secret(strings.TrimSpace(string(text))), err
	}, nil
}

// process says how worker hosts are started here. The caller closes the closers in the end.
func (h hosting) process(ctx context.Context, k *kit.Kit, cfg *config.Daemon, dir string, log *slog.Logger) (c process.Config, closers []io.Closer, err error) {
	self, err := os.Executable()
	if err != nil {
		return c, nil, err
	}
	if h.Workerd != "" {
		cfg.Workerd = h.Workerd
	}
	workerd, err := provision.Ensure(ctx, daemon.WorkerdOptions(cfg, nil))
	if err != nil {
		return c, nil, err
	}
	daemon.NameWorkerd(ctx, log, cfg, workerd)
	run, remove, err := daemon.MachineRunDir(dir)
	if err != nil {
		return c, nil, err
	}
	c = process.Config{Logger: log, Workerd: workerd, RunDir: run, Environ: daemon.MachineEnv(k.Environ)}
	closers = append(closers, daemon.HostProgram(ctx, log, &c, []string{self}), closing(remove))
	if tree, why := cgroup.Open(); tree != nil {
		c.Groups = tree
		closers = append(closers, tree)
	} else {
		log.InfoContext(ctx, "no control groups for versions; measuring their memory", "reason", why)
	}
	return c, closers, nil
}

type closing func() error

func (c closing) Close() error { return c() }
