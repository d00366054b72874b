package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/fleet/driver"
	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/fleet/kube"
	"github.com/svcctl/svcctl/internal/fleet/machines"
	"github.com/svcctl/svcctl/internal/lib/atomicfile"
	"github.com/svcctl/svcctl/internal/lib/buildinfo"
	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/svc"
)

// The files of the machines that join, in the data directory.
const (
	authorityFile = "hosts-ca.pem"
	tokenFile     = "hosts-token"
)

// startRuntimes returns the driver of SVC_RUNTIME.
func (d *Daemon) startRuntimes(ctx context.Context, c Config) (driver.Driver, error) { //nolint:ireturn // one of two
	if !d.cfg.Hosts.Remote {
		return d.localRuntimes(ctx, c)
	}
	authority, err := d.hostsAuthority()
	if err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", d.cfg.Hosts.Addr)
	if err != nil {
		return nil, fmt.Errorf("SVC_HOSTS_ADDR: %w", err)
	}
	d.logger.InfoContext(ctx, "versions run on machines that join", "address", l.Addr().String())
	policy, err := d.hostsPolicy(ctx)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	valid, until := d.permits()
	before := d.leader.before(d.began, d.cfg.Hosts.Silence)
	d.fleet, err = machines.New(machines.Config{
		Logger: d.logger, Listen: l, Authority: authority, Policy: policy, RunDir: d.dirs.runtimes(),
		Release: buildinfo.Read().Version, Host: d.hostConfig(c), Silence: d.cfg.Hosts.Silence, Wait: d.cfg.Hosts.Wait, Urgent: d.registry.IsProduction,
		Move: func(ref svc.Ref) {
			d.stops.Go(context.WithoutCancel(ctx), "move", func(ctx context.Context) { d.move(ctx, ref) })
		},
		Waiting: func(ref svc.Ref, why string) {
			d.stops.Go(context.WithoutCancel(ctx), "waiting", func(ctx context.Context) { d.waits(ctx, ref, why) })
		},
		OnEvent:    func(e machines.Event) { d.metrics.HostEvent(string(e)) },
		Generation: d.gateways.generation,
		Limit:      clientLimits(d.cfg.Clients, fileLimit()).PerVersion, Valid: valid, PermitsUntil: until, Inherited: before.Ended, Vanished: before.Vanished,
		Ran: func(ref svc.Ref) bool { return d.leader != nil && d.deploy.Get().Ran(ref) },
	})
	return d.fleet, err
}

// waits tells people why a version has no worker host yet.
func (d *Daemon) waits(ctx context.Context, ref svc.Ref, why string) {
	d.logger.InfoContext(ctx, "a version waits for a worker host", "project", ref.Project, "version", ref.Version, "reason", why)
	d.feed.Publish(svc.FeedEvent{Type: svc.FeedRuntimeWaiting, Project: ref.Project, Version: ref.Version, Data: svc.FeedData{Detail: why}})
	if err := d.registry.ExplainStep(ctx, ref, "waiting for a worker host: "+why); err != nil {
		d.logger.WarnContext(ctx, "recording why a version waits failed", "project", ref.Project, "version", ref.Version, "error", err)
	}
}

// permits returns how long permits are valid, and what limits it.
func (d *Daemon) permits() (valid time.Duration, until func() time.Time) {
	silence := d.cfg.Hosts.Silence
	switch {
	case d.leader != nil:
		return kube.PermitFor(silence), d.leader.lease.PermitsUntil
	case d.ownership.lease == nil: // the data directory is locked
		return 0, nil
	}
	valid = machines.ValidFor(silence)
	return valid, func() time.Time {
		if !d.owns() {
			return time.Time{}
		}
		return time.Now().Add(valid)
	}
}

// machineOf returns the machine that runs the version whose start has this key, if gateways on other
// machines reach it there.
func (d *Daemon) machineOf(ref svc.Ref, key string) gateway.Machine { //nolint:ireturn // what gateway.Config wants
	if d.fleet == nil || d.gateways == nil {
		return nil
	}
	if p := d.fleet.Permits(ref, key); p != nil {
		return ownMachine{p}
	}
	return nil
}

// ownMachine implements gateway.Machine.
type ownMachine struct{ *machines.Permits }

func (m ownMachine) Used() gateway.MachineUse { return gateway.MachineUse(m.Permits.Used()) }

// inherited is when the permits end that a server before this one may have given to machines.
func (d *Daemon) inherited() time.Time {
	if !d.cfg.Hosts.Remote || d.cfg.Gateways.Listen == "" {
		return time.Time{}
	}
	return d.leader.before(d.began, d.cfg.Hosts.Silence).Ended
}

// hostsAuthority returns the authority of SVC_HOSTS_AUTHORITY, else that of the data directory.
func (d *Daemon) hostsAuthority() (*join.Authority, error) {
	if d.cfg.Hosts.Authority == "" {
		authority, _, err := joining(d.dirs.data, false)
		return authority, err
	}
	text, err := os.ReadFile(d.cfg.Hosts.Authority)
	if err != nil {
		return nil, fmt.Errorf("SVC_HOSTS_AUTHORITY: %w", err)
	}
	authority, err := join.ParseAuthority(text)
	if err != nil {
		return nil, fmt.Errorf("SVC_HOSTS_AUTHORITY=%s: %w", d.cfg.Hosts.Authority, err)
	}
	return authority, nil
}

// hostsPolicy says which machines may join.
func (d *Daemon) hostsPolicy(ctx context.Context) (machines.Policy, error) { //nolint:ireturn // one of two
	if !d.cfg.Hosts.Kubernetes {
		return machines.Tokens{Current: func() (join.Token, error) {
			text, err := os.ReadFile(d.dirs.data.sub(tokenFile))
			if err != nil {
				return join.Token{}, err
			}
			return join.ParseToken(string(text))
		}}, nil
	}
	k := d.cfg.Kubernetes
	client, err := kube.Connect(k.Config, k.Namespace)
	if err != nil {
		return nil, err
	}
	pods, err := kube.Watch(ctx, kube.Config{Logger: d.logger, Client: client, MemoryMB: k.MemoryMB, Silence: d.cfg.Hosts.Silence, Machines: d.Machines})
	if err != nil {
		return nil, err
	}
	d.stops.Push("watch of pods", func(context.Context) error { pods.Stop(); return nil })
	return pods, nil
}

// move has a version leave a machine that stops.
func (d *Daemon) move(ctx context.Context, ref svc.Ref) {
	if err := d.lifecycle.Get().Move(ctx, ref); err != nil && ctx.Err() == nil {
		d.logger.WarnContext(ctx, "a version cannot leave its machine now; it starts again on another one when the machine has stopped", "version", ref.String(), "error", err)
	}
}

// fleetRestores is how many versions a new server starts at a time on other machines: those of a lost
// machine wait for it, and must not delay the others.
const fleetRestores = 64

// restores is deploy.Deps.Restores.
func (d *Daemon) restores() int {
	if d.fleet == nil {
		return deploy.DefaultRestores
	}
	return fleetRestores
}

// Machines returns the machines that run versions.
func (d *Daemon) Machines() []svc.Node {
	if d.fleet == nil {
		return nil
	}
	return d.fleet.Nodes()
}

// HostToken returns the join token of the daemon of cfg, a secret, and makes it if it does not
// exist. With rotate it makes another one: the one before is not accepted any more, and
// machines that have joined stay.
func HostToken(cfg *config.Daemon, rotate bool) (string, error) {
	if _, err := os.Stat(cfg.DataDir); err != nil {
		return "", svc.Errorf(svc.NotFound, svc.CodeDataDirEmpty, "no server has run in the data directory %s", cfg.DataDir).
			WithHint("set --data-dir to the data directory of the server, and run the command as its user").Because(err)
	}
	_, token, err := joining(&dataDir{path: cfg.DataDir}, rotate)
	return token, err
}

// joining reads the authority and the token, and makes what is missing.
func joining(dir *dataDir, rotate bool) (*join.Authority, string, error) {
	authority, err := authorityIn(dir)
	if err != nil {
		return nil, "", err
	}
	text, err := os.ReadFile(dir.sub(tokenFile))
	if err == nil && !rotate {
		return authority, strings.TrimSpace(string(text)), nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, "", err
	}
	token := join.NewToken(authority.Certificate()).Reveal()
	return authority, token, atomicfile.WriteFile(dir.sub(tokenFile), []byte(token+"\n"), 0o600)
}

func authorityIn(dir *dataDir) (*join.Authority, error) {
	data, err := os.ReadFile(dir.sub(authorityFile))
	if err == nil {
		return join.ParseAuthority(data)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	a, err := join.NewAuthority(time.Now())
	if err != nil {
		return nil, err
	}
	if data, err = a.PEM(); err != nil {
		return nil, err
	}
	return a, atomicfile.WriteFile(dir.sub(authorityFile), data, 0o600)
}
