package workerhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/host/confine"
	"github.com/svcctl/svcctl/internal/host/door"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// cpuLimit is how much CPU time workerd may use before it listens: a worker
	// that loops at the top level of a module fails on a busy machine as well,
	// and no earlier than on an idle one. cpuLook is how often it is looked at.
	cpuLimit = 5 * time.Second
	cpuLook  = 50 * time.Millisecond
)

// drainLimit is how long the last output of a dead workerd may take to read.
const drainLimit = time.Second

// worker is one workerd process.
type worker struct {
	dir     string            // the run directory
	env     map[string]string // its values are kept out of errors
	cmd     *exec.Cmd
	exited  chan struct{} // closed once it is reaped and its output read
	stopped atomic.Bool   // it was asked to end
	config  *configFile
	control *os.File // its messages
	stdout  *output
	stderr  *output
	rate    *rate      // of both outputs
	door    *door.Door // nil when no event can reach the worker
	memory  memoryWatch
	confine func() error // of the thread that starts it
}

// startWorker spawns workerd with the config. It does not wait for its sockets.
func startWorker(o Options, v *version, config []byte) (*worker, error) {
	file, err := writeConfig(v.spec.Local.RunDir, config)
	if err != nil {
		return nil, err
	}
	w := &worker{
		dir: v.spec.Local.RunDir, env: v.spec.Env, exited: make(chan struct{}), config: file,
		stdout: newOutput(v.log), stderr: newOutput(v.log), rate: newRate(v.log.Write),
	}
	w.memory.limit = int64(v.memoryMB()) << 20
	w.confine = func() error { return confineThread(v.spec, v.objectsDir(), o.Logger) }
	w.stdout.emit, w.stderr.emit = w.rate.Write, w.rate.Write
	if v.door {
		w.door = door.New(filepath.Join(w.dir, doorSocket), w.exited)
		w.stdout.own = w.door.Line
	}
	if err := w.spawn(o, v); err != nil {
		file.remove()
		return nil, fmt.Errorf("starting workerd: %w", err)
	}
	if w.memory.limit > 0 {
		go w.memory.run(w.pid(), w.exited, func() { _ = w.cmd.Process.Kill() })
	}
	return w, nil
}

// spawn wires up the descriptors of the child: the config if it has no name,
// the control pipe, and both outputs, which are read until it ends.
func (w *worker) spawn(o Options, v *version) (err error) {
	var ends pipes
	defer ends.closeTheirs()
	w.control = ends.make(&err)
	stdout, stderr := ends.make(&err), ends.make(&err)
	if err != nil {
		ends.closeOurs()
		return err
	}
	command := workerd.Options{Config: w.config.path, ControlFD: 3}
	inherited := []*os.File{ends.theirs[0]}
	if w.config.file != nil {
		command.Config = "/dev/fd/4"
		inherited = append(inherited, w.config.file)
	}
	args := workerd.Command(v.spec.Local.Workerd, command)
	w.cmd = &exec.Cmd{
		Path: args[0], Args: args, Dir: v.spec.Local.RunDir, Env: append([]string{}, o.Environ...),
		Stdout: ends.theirs[1], Stderr: ends.theirs[2], ExtraFiles: inherited,
		SysProcAttr: sysProcAttr(),
	}
	var reading sync.WaitGroup // the readers end with workerd, or when it does not start
	reading.Go(func() { w.stdout.read(stdout) })
	reading.Go(func() { w.stderr.read(stderr) })
	started := make(chan error)
	go w.run(started, &reading)
	return <-started
}

// run starts the process and reaps it, on a thread that lives as long as the
// process: the kernel kills workerd when the thread that started it ends.
func (w *worker) run(started chan<- error, reading *sync.WaitGroup) {
	goruntime.LockOSThread()
	err := w.confine()
	if err == nil {
		err = w.cmd.Start()
	}
	if err == nil {
		err = confine.Limit(w.pid())
	}
	started <- err
	if err != nil {
		_ = w.control.Close()
		return
	}
	_ = w.cmd.Wait() // the state says it all
	drained := make(chan struct{})
	go func() { reading.Wait(); w.rate.Flush(); close(drained) }()
	t := time.NewTimer(drainLimit)
	defer t.Stop()
	select {
	case <-drained:
	case <-t.C:
	}
	close(w.exited)
}

// sockets are the names of those that workerd listens at.
func (w *worker) sockets() []string {
	names := []string{httpName, pingName}
	if w.door != nil {
		names = append(names, door.Name)
	}
	return names
}

func (w *worker) pid() int { return w.cmd.Process.Pid }

// awaitListening waits until every socket listens. When it fails, workerd is gone.
func (w *worker) awaitListening(ctx context.Context, limit time.Duration) error {
	listening := make(chan error, 1)
	go func() {
		_, err := workerd.AwaitListening(w.control, w.sockets()...)
		listening <- err
		_, _ = io.Copy(io.Discard, w.control) // ends with workerd
		_ = w.control.Close()
	}()
	defer w.config.remove() // read by now, or of no use
	err := w.await(ctx, listening, limit)
	if err == nil {
		w.stdout.settle()
		return nil
	}
	w.kill()
	<-w.exited
	return err
}

// await waits for listening as long as the limits of a start allow.
func (w *worker) await(ctx context.Context, listening <-chan error, limit time.Duration) error {
	deadline, look := time.NewTimer(limit), time.NewTicker(cpuLook)
	defer deadline.Stop()
	defer look.Stop()
	for {
		select {
		case err := <-listening:
			if err != nil {
				return w.gone(err)
			}
			return nil
		case <-look.C:
			if cpuTime(w.pid()) >= cpuLimit {
				return w.tooSlow(svc.CodeStartupCPULimit, fmt.Sprintf("used %s of CPU time and did not start", cpuLimit))
			}
		case <-deadline.C:
			return w.tooSlow(svc.CodeStartupTimeout, fmt.Sprintf("did not start within %s", limit))
		case <-ctx.Done():
			return fmt.Errorf("starting workerd: %w", context.Cause(ctx))
		}
	}
}

// tooSlow is the error of a worker that reached a limit of its start.
func (w *worker) tooSlow(code, what string) error {
	return svc.Errorf(svc.Unprocessable, code, "the worker %s: code at the top level of a module must end, and a loop or an await "+
		"there keeps the worker from listening", what).WithHint("move the code into a handler").Printed(w.finalOutput())
}

// gone explains the end of the control pipe.
func (w *worker) gone(cause error) error {
	<-w.exitedOrKilled()
	if e := w.memory.over.Load(); e != nil {
		w.logExit(*e)
		return svc.Errorf(svc.Unprocessable, e.Code, "%s", e.Detail).Printed(w.finalOutput())
	}
	code, text := workerd.Explain(w.stderr.last()+w.stdout.last(), w.env)
	if text == "" {
		text = "workerd ended before the worker listened: " + w.cmd.ProcessState.String()
	}
	err := svc.Errorf(svc.Unprocessable, code, "%s", text).Printed(w.finalOutput())
	if !errors.Is(cause, workerd.ErrNotListening) {
		return err.Because(cause)
	}
	return err
}

// exitedOrKilled is exited, with a kill for a workerd that closes its control
// pipe and lives on.
func (w *worker) exitedOrKilled() <-chan struct{} {
	t := time.NewTimer(drainLimit)
	defer t.Stop()
	select {
	case <-w.exited:
	case <-t.C:
		w.kill()
	}
	return w.exited
}

// stop ends the process: gently, and after the grace or when ctx ends by force.
func (w *worker) stop(ctx context.Context, grace time.Duration) {
	w.stopped.Store(true)
	_ = w.cmd.Process.Signal(syscall.SIGTERM) // one that is gone needs none
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-w.exited:
		return
	case <-ctx.Done():
	case <-t.C:
	}
	w.kill()
	<-w.exited
}

// kill ends the process immediately.
func (w *worker) kill() {
	w.stopped.Store(true)
	_ = w.cmd.Process.Kill() // one that is gone needs none
}

// pipes are the pipes to a child that is about to start.
type pipes struct{ ours, theirs []*os.File }

// make gives our end of a new pipe, unless err is set already.
func (p *pipes) make(err *error) *os.File {
	if *err != nil {
		return nil
	}
	var r, w *os.File
	if r, w, *err = os.Pipe(); *err != nil {
		return nil
	}
	p.ours, p.theirs = append(p.ours, r), append(p.theirs, w)
	return r
}

func (p *pipes) closeTheirs() {
	for _, f := range p.theirs {
		_ = f.Close()
	}
}

func (p *pipes) closeOurs() {
	for _, f := range p.ours {
		_ = f.Close()
	}
}
