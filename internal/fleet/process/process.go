package process

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/driver"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/lib/cgroup"
	"github.com/svcctl/svcctl/internal/lib/cputime"
	"github.com/svcctl/svcctl/internal/svc"
)

// noticeWait is the longest time between the exit and the end of the control line.
const noticeWait = 10 * time.Second

// Process is one worker host and its workerd. It is alive from Start until Exited is closed;
// before that its group is killed and its directory removed.
type Process struct {
	cfg    Config
	cmd    *exec.Cmd
	client *control.Client
	runDir string
	group  *cgroup.Group // nil for none
	exited chan struct{}
	notes  hearing

	mu      sync.Mutex // guards the fields below
	state   *os.ProcessState
	end     driver.End
	workerd int // its pid, once it serves
}

var _ driver.Host = (*Process)(nil)

// Start starts a worker host whose log is in logDir, and sends it nothing.
func Start(ctx context.Context, cfg Config, logDir string) (*Process, error) {
	conn, there, err := control.Pair()
	if err != nil {
		return nil, err
	}
	defer there.Close()
	p := &Process{cfg: cfg, exited: make(chan struct{})}
	p.client, err = control.Connect(ctx, conn, p.notes.add)
	if err != nil {
		return nil, err
	}
	if err := p.start(logDir, there); err != nil {
		_ = p.client.Close()
		if p.runDir != "" {
			_ = os.RemoveAll(p.runDir)
		}
		p.leaveGroup()
		return nil, fmt.Errorf("starting a worker host: %w", err)
	}
	go p.wait()
	return p, nil
}

func (p *Process) start(logDir string, line *os.File) (err error) {
	if p.runDir, err = MakeRunDir(p.cfg.RunDir); err != nil {
		return err
	}
	log, err := control.OpenLog(logDir)
	if err != nil {
		return err
	}
	defer log.Close()
	return p.startIn(func() *exec.Cmd {
		return &exec.Cmd{
			Path: cmp.Or(p.cfg.Path, executable(p.cfg.Command[0])), Args: p.cfg.Command,
			Dir: p.runDir, Env: append([]string{}, p.cfg.Environ...),
			Stdout: log, Stderr: log, ExtraFiles: []*os.File{line}, // becomes control.FD
			SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
		}
	})
}

// Client is this process's end of the control line.
func (p *Process) Client() *control.Client { return p.client }

// Keep is driver.Host.Keep: a host of this machine belongs to its version.
func (p *Process) Keep(context.Context) error { return nil }

// Hear is driver.Host.Hear.
func (p *Process) Hear(heard func(control.Notice)) { p.notes.to(heard) }

// Fill returns s with the paths of the worker host.
func (p *Process) Fill(s svc.RuntimeSpec) svc.RuntimeSpec {
	s.Local.Workerd, s.Local.RunDir, s.Local.Group = p.cfg.Workerd, p.runDir, p.group.Path()
	return s
}

// Dir is the run directory.
func (p *Process) Dir() string { return p.runDir }

// PID is the process of the worker host.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Locate adds the process of the worker host.
func (p *Process) Locate(_ context.Context, e svc.Endpoint) (svc.Endpoint, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.workerd = e.WorkerdPID
	e.PID = p.cmd.Process.Pid
	return e, nil
}

// Exited is driver.Host.Exited.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// End is driver.Host.End.
func (p *Process) End() driver.End {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end
}

// Work is driver.Host.Work.
func (p *Process) Work() time.Duration { return cputime.Of(p.workerdPID()) }

// Thread is driver.Host.Thread.
func (p *Process) Thread() (cputime.Thread, bool) { return cputime.ThreadOf(p.workerdPID()) }

// Usage takes about 0.1 ms for each of the two processes.
func (p *Process) Usage() (u driver.Usage) {
	for _, pid := range []int{p.cmd.Process.Pid, p.workerdPID()} {
		if pid != 0 {
			u.RSSBytes += rss(pid)
			u.Descriptors += descriptors(pid)
			u.CPU += cputime.Of(pid)
		}
	}
	return u
}

func (p *Process) workerdPID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.workerd
}

// wait waits for the end of the host and cleans up.
func (p *Process) wait() {
	_ = p.cmd.Wait() // ProcessState has the result
	// The kernel kills the workerd of a killed host where it can (Pdeathsig);
	// elsewhere workerd is still in the group.
	p.Kill()
	p.mu.Lock()
	p.state = p.cmd.ProcessState
	p.end.State = p.state.String()
	p.mu.Unlock()
	p.awaitNotices()
	p.cfg.sweep()
	p.leaveGroup()
	_ = os.RemoveAll(p.runDir)
	close(p.exited)
}

// awaitNotices closes the control line of a host that has exited, after the notices
// still in transit: they hold the reason of the exit.
func (p *Process) awaitNotices() {
	select {
	case <-p.client.Ended(): // the host's end is closed
	case <-time.After(noticeWait):
	}
	_ = p.client.Close()
}

// Kill kills the whole group. It does nothing after the end of the host, because the
// id of the group may be in use again.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == nil {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // the group may be empty
	}
}
