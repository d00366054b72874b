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
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/host/agent"
	"github.com/svcctl/svcctl/internal/host/join"
	"github.com/svcctl/svcctl/internal/host/process"
	"github.com/svcctl/svcctl/internal/host/provision"
	"github.com/svcctl/svcctl/internal/lib/cgroup"
	"github.com/svcctl/svcctl/internal/server/daemon"
	"github.com/svcctl/svcctl/internal/server/obs"
	"github.com/svcctl/svcctl/internal/svc"
)

// hosting are the flags of svcd host.
type hosting struct {
	join, tokenFile, caFile, dir, workerd, name, machine, listen, address string

	seats int
	drain time.Duration
}

// NewHost runs worker hosts for a daemon on another machine.
func NewHost(k *kit.Kit) *cobra.Command {
	var h hosting
	cmd := &cobra.Command{
		Use: "host --join URL --token-file FILE", Short: "Run versions on this machine for a server on another one", Args: cobra.NoArgs,
		Long: "Joins a server that has SVC_RUNTIME=remote or kubernetes, and runs versions for it until SIGTERM or Ctrl-C. " +
			"svcctl admin hosts token prints the token on the machine of the server. Each seat runs one version, or waits for one. " +
			"When the server is away the versions serve on, and the machine dials again. " +
			"The machine has to reach the object store of the server.",
		RunE: func(cmd *cobra.Command, _ []string) error { return h.run(cmd.Context(), k) },
	}
	f := cmd.Flags()
	f.StringVar(&h.join, "join", "", "address of the server, https://HOST:PORT, as in its SVC_HOSTS_ADDR")
	f.StringVar(&h.tokenFile, "token-file", "", "file with the join token; with --ca-file, with the service account token of the pod, read again for each connection")
	f.StringVar(&h.caFile, "ca-file", "", "PEM file of the certificate authority of the server, in a pod of Kubernetes")
	f.StringVar(&h.dir, "data", "svcd-host", "directory of bundles and data")
	f.StringVar(&h.workerd, "workerd", "", "path of workerd (default: the pinned one, which is installed if it is missing)")
	f.StringVar(&h.name, "name", "", "name of the machine in svcctl nodes (default: its host name)")
	f.StringVar(&h.machine, "machine-id", "", "identity of the machine: the uid of the pod, with --ca-file (default: one that --data keeps)")
	f.StringVar(&h.listen, "listen", "", "host:port where gateways on other machines reach the versions of this one; without it their requests pass the server")
	f.StringVar(&h.address, "address", "", "host name or IP address, with or without a port, where gateways reach --listen (default: the address from which this machine connects to the server)")
	f.IntVar(&h.seats, "seats", 4, "number of versions that this machine runs at most, spares included")
	f.DurationVar(&h.drain, "drain", 20*time.Second, "time for the server to move the versions to other machines, after SIGTERM")
	return cmd
}

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
	if h.name == "" {
		h.name, _ = os.Hostname() // a machine without a name has an identity all the same
	}
	dir, err := filepath.Abs(h.dir)
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
		Logger: log, Daemon: addr, Token: token, Secret: secret, Machine: h.machine, Drain: h.drain, Name: h.name, Release: obs.BuildInfo().Version, Dir: dir, Seats: h.seats,
		Listen: h.listen, Address: h.address, Process: c, Unpack: fetcher{dir: dir, sync: h.machine == ""}.unpack,
	})
	for _, c := range closers {
		err = errors.Join(err, c.Close())
	}
	return err
}

// target reads where to join.
func (h hosting) target() (addr string, err error) {
	u, err := url.Parse(h.join)
	switch {
	case err != nil || u.Scheme != "https" || u.Port() == "":
		return "", kit.Usagef("--join: want https://HOST:PORT, the SVC_HOSTS_ADDR of the server")
	case h.seats < 1:
		return "", kit.Usagef("--seats: want at least 1")
	case h.address != "" && h.listen == "":
		return "", kit.Usagef("--address is for --listen, which is not set")
	case h.tokenFile == "":
		return "", kit.Usagef("--token-file is required: the output of svcctl admin hosts token on the machine of the server")
	}
	return u.Host, nil
}

// token reads by which token to join. secret is nil for a join token.
func (h hosting) token() (t join.Token, secret func() (svc.Secret, error), err error) {
	text, err := os.ReadFile(h.tokenFile)
	if err != nil {
		return t, nil, err
	}
	if h.caFile == "" {
		t, err = join.ParseToken(string(text))
		return t, nil, err
	}
	ca, err := os.ReadFile(h.caFile)
	if err == nil {
		t.Pin, err = join.PinOf(ca)
	}
	if err != nil {
		return t, nil, kit.Usagef("--ca-file: %v", err)
	}
	return t, func() (svc.Secret, error) {
		text, err := os.ReadFile(h.tokenFile)
		return svc.Secret(strings.TrimSpace(string(text))), err
	}, nil
}

// process says how worker hosts are started here. The caller closes the closers in the end.
func (h hosting) process(ctx context.Context, k *kit.Kit, cfg *config.Daemon, dir string, log *slog.Logger) (c process.Config, closers []io.Closer, err error) {
	self, err := os.Executable()
	if err != nil {
		return c, nil, err
	}
	if h.workerd != "" {
		cfg.Workerd = h.workerd
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
