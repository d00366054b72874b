package supervisor

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/control"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	stopSlack   = 2 * time.Second // for a host to close its data, beyond the grace
	lastWords   = 2 * time.Second // for a host that closed the line to exit
	maxHostLog  = 1 << 20         // bytes, after which host.log begins anew
	hostLogName = "host.log"
)

// process is one host process and its workerd. It is alive from spawn until
// exited is closed; by then its group is killed and its directory removed.
type process struct {
	cmd    *exec.Cmd
	client *control.Client
	runDir string
	exited chan struct{}

	servingSince time.Time // set by serve

	mu     sync.Mutex // guards what follows
	reason error      // why it ended, by who knows best
	state  *os.ProcessState
}

// spawn starts a host. Nothing is asked of it yet.
func spawn(cfg Config, spec Spec) (*process, error) {
	conn, there, err := control.Pair()
	if err != nil {
		return nil, err
	}
	defer there.Close()
	p := &process{exited: make(chan struct{})}
	if err := p.start(cfg, spec, there); err != nil {
		_ = conn.Close()
		if p.runDir != "" {
			_ = os.RemoveAll(p.runDir)
		}
		return nil, fmt.Errorf("starting a runtime host: %w", err)
	}
	p.client = control.Connect(conn, control.Heard{
		Exit:     func(e control.Exit) { p.fail(svc.Errorf(svc.Unavailable, e.Code, "%s", e.Detail)) },
		Requests: cfg.OnRequests,
	})
	go p.wait()
	return p, nil
}

func (p *process) start(cfg Config, spec Spec, line *os.File) error {
	if err := p.makeRunDir(cfg.RunDir); err != nil {
		return err
	}
	for _, dir := range []string{spec.DataDir, spec.LogDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	log, err := hostLog(spec.LogDir)
	if err != nil {
		return err
	}
	defer log.Close()
	p.cmd = &exec.Cmd{
		Path: executable(cfg.HostCommand[0]), Args: cfg.HostCommand,
		Dir: p.runDir, Env: append([]string{}, cfg.Environ...),
		Stdout: log, Stderr: log, ExtraFiles: []*os.File{line}, // becomes control.FD
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	return p.cmd.Start()
}

// makeRunDir makes a directory that no earlier process has used, so that no
// leftover is in the way of a socket.
func (p *process) makeRunDir(parent string) error {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return err
	}
	var id [4]byte
	_, _ = rand.Read(id[:]) // never fails
	dir := filepath.Join(parent, hex.EncodeToString(id[:]))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	p.runDir = dir
	return nil
}

// hostLog is where a host's own words go, a crash of it among them.
func hostLog(dir string) (*os.File, error) {
	path := filepath.Join(dir, hostLogName)
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if info, err := os.Stat(path); err == nil && info.Size() > maxHostLog {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(path, flags, 0o600)
}

func (p *process) spec(cfg Config, s Spec) control.Spec {
	return control.Spec{
		Ref: s.Ref, CreatedAt: s.CreatedAt, Tag: s.Tag,
		BundleDir: s.BundleDir, DataDir: s.DataDir, LogDir: s.LogDir, RunDir: p.runDir,
		Env: s.Env, Workerd: cfg.Workerd, HeapMB: cfg.HeapMB, StartTimeout: cfg.StartTimeout,
		Parent: s.Parent, Warm: s.Warm, Scrub: s.Scrub, Storage: cfg.Storage,
	}
}

// serve starts the worker.
func (p *process) serve(ctx context.Context) (Endpoint, error) {
	ready, err := p.client.Serve(ctx)
	if err != nil {
		return Endpoint{}, p.explain(ctx, err)
	}
	p.servingSince = time.Now()
	return Endpoint{
		Socket: ready.Socket, Port: ready.Port, PID: p.cmd.Process.Pid, WorkerdPID: ready.WorkerdPID,
		StartedAt: p.servingSince,
	}, nil
}

// wait reaps the host.
func (p *process) wait() {
	_ = p.cmd.Wait() // the state says it all
	// A workerd whose host was killed is killed by the kernel where it can
	// (Pdeathsig); elsewhere it is still in the group.
	p.kill()
	p.mu.Lock()
	p.state = p.cmd.ProcessState
	p.mu.Unlock()
	p.hearOut()
	_ = os.RemoveAll(p.runDir)
	close(p.exited)
}

// hearOut closes the line of a host that is gone, after its last words, which
// may still be on the way: they say why it ended.
func (p *process) hearOut() {
	select {
	case <-p.client.Ended(): // the other end went with the host
	case <-time.After(lastWords):
	}
	_ = p.client.Close()
}

// kill ends the whole group at once. It does nothing after the end: the id of
// the group may be another's by then.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == nil {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // the group may be empty
	}
}

func (p *process) alive() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// stop ends the host and returns when it is gone: by itself within the grace,
// or killed. When ctx ends it is killed at once.
func (p *process) stop(ctx context.Context, grace time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, grace+stopSlack)
	defer cancel()
	_ = p.client.Stop(ctx, grace) // one that does not obey is killed
	select {
	case <-p.exited:
	case <-ctx.Done():
		p.kill()
		<-p.exited
	}
}

// fail notes why the process ends. The first reason stays.
func (p *process) fail(reason error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason == nil {
		p.reason = reason
	}
}

// cause is why an exited process ended.
func (p *process) cause() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason != nil {
		return p.reason
	}
	return svc.Errorf(svc.Unavailable, "host_exited", "the runtime host ended: %s", p.state).
		WithHint("%s in the version's log directory may say why", hostLogName)
}

// explain turns the end of the line into the reason for it. Other errors stay.
func (p *process) explain(ctx context.Context, err error) error {
	if !errors.Is(err, control.ErrClosed) {
		return err
	}
	t := time.NewTimer(lastWords)
	defer t.Stop()
	select {
	case <-p.exited:
		return p.cause()
	case <-ctx.Done():
	case <-t.C:
	}
	return err
}
