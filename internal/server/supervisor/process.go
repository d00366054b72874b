package supervisor

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/lib/cgroup"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	stopSlack  = 2 * time.Second  // time to close the data, after the grace
	noticeWait = 10 * time.Second // time between the end of the control line and the exit
)

// process is one worker host and its workerd. It is alive from spawn until exited is
// closed; before that its group is killed and its directory removed.
type process struct {
	cmd    *exec.Cmd
	client *control.Client
	runDir string
	group  *cgroup.Group // nil for none
	exited chan struct{}
	pulse  *pulse

	servingSince time.Time // set by serve
	stopping     atomic.Bool
	armed        bool // state of the host; guarded by unit.arming

	mu     sync.Mutex // guards the fields below
	reason error      // first reported reason of its end
	logged bool       // the host wrote it to the log of the version
	state  *os.ProcessState
}

// spawn starts a worker host for a version and sends it nothing.
func spawn(ctx context.Context, cfg Config, spec svc.RuntimeSpec) (*process, error) {
	if err := os.MkdirAll(spec.Local.DataDir, 0o700); err != nil {
		return nil, err
	}
	return spawnWith(ctx, cfg, spec.Local.LogDir)
}

// spawnWith starts a worker host whose log is in logDir.
func spawnWith(ctx context.Context, cfg Config, logDir string) (*process, error) {
	conn, there, err := control.Pair()
	if err != nil {
		return nil, err
	}
	defer there.Close()
	p := &process{exited: make(chan struct{}), pulse: newPulse()}
	p.client, err = control.Connect(ctx, conn, func(n control.Notice) { p.onNotice(cfg, n) })
	if err != nil {
		return nil, err
	}
	if err := p.start(cfg, logDir, there); err != nil {
		_ = p.client.Close()
		if p.runDir != "" {
			_ = os.RemoveAll(p.runDir)
		}
		p.leaveGroup(cfg)
		return nil, fmt.Errorf("starting a worker host: %w", err)
	}
	go p.wait(cfg)
	return p, nil
}

// onNotice handles a notice of the host.
func (p *process) onNotice(cfg Config, n control.Notice) {
	if n.Exit != nil {
		p.end(svc.Errorf(svc.Unavailable, n.Exit.Code, "%s", n.Exit.Detail), true)
	}
	if len(n.Requests) > 0 {
		cfg.OnRequests(n.Requests)
	}
	if n.Works {
		p.pulse.touch()
	}
	cfg.OnEvents(n.Events)
	cfg.onSpans(n.Spans)
}

func (p *process) start(cfg Config, logDir string, line *os.File) error {
	if err := p.makeRunDir(cfg.RunDir); err != nil {
		return err
	}
	log, err := control.OpenLog(logDir)
	if err != nil {
		return err
	}
	defer log.Close()
	return p.startIn(cfg, func() *exec.Cmd {
		return &exec.Cmd{
			Path: cmp.Or(cfg.HostPath, executable(cfg.HostCommand[0])), Args: cfg.HostCommand,
			Dir: p.runDir, Env: append([]string{}, cfg.Environ...),
			Stdout: log, Stderr: log, ExtraFiles: []*os.File{line}, // becomes control.FD
			SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
		}
	})
}

// makeRunDir creates a new directory for sockets, with a random name so that no files
// of an earlier process are in it.
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

// spec returns s with the fields that the supervisor sets.
func (p *process) spec(cfg Config, s svc.RuntimeSpec) svc.RuntimeSpec {
	s.Host, s.Local.Workerd, s.Local.RunDir, s.Local.Group = cfg.Host, cfg.Workerd, p.runDir, p.group.Path()
	return s
}

// listen listens for the calls of the worker until the end of the host.
func (p *process) listen(ctx context.Context, cfg Config, s svc.RuntimeSpec) error {
	calls, err := cfg.Calls(ctx, s, p.runDir)
	if err != nil {
		return err
	}
	go func() {
		<-p.exited
		_ = calls.Close() // its sockets are gone with the directory
	}()
	return nil
}

// serve starts the worker.
func (p *process) serve(ctx context.Context) (svc.Endpoint, error) {
	e, err := p.client.Serve(ctx)
	if err != nil {
		return svc.Endpoint{}, p.explain(ctx, err)
	}
	p.servingSince, p.pulse.pid = time.Now(), e.WorkerdPID
	e.PID, e.StartedAt = p.cmd.Process.Pid, p.servingSince
	return e, nil
}

// wait waits for the end of the host and cleans up.
func (p *process) wait(cfg Config) {
	_ = p.cmd.Wait() // ProcessState has the result
	// The kernel kills the workerd of a killed host where it can (Pdeathsig);
	// elsewhere workerd is still in the group.
	p.kill()
	p.mu.Lock()
	p.state = p.cmd.ProcessState
	p.mu.Unlock()
	p.awaitNotices()
	p.leaveGroup(cfg)
	_ = os.RemoveAll(p.runDir)
	close(p.exited)
}

// awaitNotices closes the control line of a host that has exited, after the notices
// still in transit: they hold the reason of the exit.
func (p *process) awaitNotices() {
	select {
	case <-p.client.Ended(): // the host's end is closed
	case <-time.After(noticeWait):
	}
	_ = p.client.Close()
}

// kill kills the whole group. It does nothing after the end of the host, because the
// id of the group may be in use again.
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

// stop stops the host within the grace, else kills it, and returns when it has
// exited. When ctx ends, it kills the host immediately. wake is when the version must run
// next for its own work: now if the host could not say.
func (p *process) stop(ctx context.Context, grace time.Duration) (wake svc.Wake) {
	ctx, cancel := context.WithTimeout(ctx, grace+stopSlack)
	defer cancel()
	p.stopping.Store(true)
	wake, err := p.client.Stop(ctx, grace)
	if err != nil { // the host is killed
		wake = svc.Wake{At: time.Now()}
	}
	select {
	case <-p.exited:
	case <-ctx.Done():
		p.kill()
		<-p.exited
	}
	return wake
}

// fail records why the process ends. The first reason stays.
func (p *process) fail(reason error) { p.end(reason, false) }

// end is fail; logged reports whether the reason is in the log of the version.
func (p *process) end(reason error, logged bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason == nil {
		p.reason, p.logged = reason, logged
	}
}

// isLogged reports whether the log of the version has the reason of the end.
func (p *process) isLogged() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.logged
}

// cause returns why an exited process ended.
func (p *process) cause() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason != nil {
		return p.reason
	}
	return svc.Errorf(svc.Unavailable, svc.CodeHostExited, "the worker host ended: %s", p.state).
		WithHint("read %s in the version's log directory", control.HostLog)
}

// explain returns the reason if err is the end of the control line, else err.
func (p *process) explain(ctx context.Context, err error) error {
	if !errors.Is(err, control.ErrClosed) {
		return err
	}
	t := time.NewTimer(noticeWait)
	defer t.Stop()
	select {
	case <-p.exited:
		return p.cause()
	case <-ctx.Done():
	case <-t.C:
	}
	return err
}
