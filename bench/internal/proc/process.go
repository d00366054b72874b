package proc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long a process may take to end when asked.
const patience = 15 * time.Second

// Process is one that runs, in a process group of its own.
type Process struct {
	PID  int
	log  string
	done chan struct{} // closed when it has ended
}

// Spec says what to run.
type Spec struct {
	Args []string // the program and its arguments
	Dir  string   // working directory
	Env  []string // in addition to our own
	Log  string   // file for what it prints
}

// Start runs a process until ctx ends or Stop is called.
func Start(ctx context.Context, s Spec) (*Process, error) {
	out, err := os.Create(s.Log)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(s.Args[0], s.Args[1:]...) //nolint:noctx // stopped gracefully below
	cmd.Dir, cmd.Env = s.Dir, append(os.Environ(), s.Env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	p := &Process{PID: cmd.Process.Pid, log: s.Log, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		_ = out.Close()
		close(p.done)
	}()
	context.AfterFunc(ctx, p.Stop)
	return p, nil
}

// Stop asks the process to end, waits, and kills what is left of its group. It
// may be called more than once.
func (p *Process) Stop() {
	select {
	case <-p.done:
	default:
		_ = syscall.Kill(p.PID, syscall.SIGTERM) // it may just have ended
	}
	select {
	case <-p.done:
	case <-time.After(patience):
	}
	_ = syscall.Kill(-p.PID, syscall.SIGKILL)
	<-p.done
	for { // what the process left behind is ours now, see Adopt
		if _, err := syscall.Wait4(-p.PID, nil, 0, nil); err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// Adopt makes this process the parent of those whose parent ends before them, so
// that Stop can wait for them and a Clock counts their work. Call it once.
func Adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// Watch gives a context that ends with the process too, with its log as cause.
func (p *Process) Watch(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-p.done:
			text, _ := os.ReadFile(p.log)
			cancel(fmt.Errorf("the process ended: %s", text[max(0, len(text)-1000):]))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// FreePort is a TCP port of 127.0.0.1 that was free a moment ago.
func FreePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, errors.New("a TCP listener without a TCP address")
	}
	return addr.Port, l.Close()
}
