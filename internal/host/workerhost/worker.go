package workerhost

import (
	"cmp"
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
	"github.com/svcctl/svcctl/internal/lib/cgroup"
	"github.com/svcctl/svcctl/internal/lib/cputime"
	"github.com/svcctl/svcctl/internal/svc"
)

// cpuLook is how often the CPU time of a starting workerd is read.
const cpuLook = 50 * time.Millisecond

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
	inspect bool
	port    int // of the inspector, once it listens; 0 for none
	memory  memoryWatch
	group   *cgroup.Group
	confine func() error // of the thread that starts it
	calls   *calls       // handles what workerd asks of the kernel
	owner   *owner       // nil if it has the uid of this process

	serving atomic.Bool // it was seen to listen: requests may be under way
	lost    bool        // it ended before it listened, and named no reason

	input   *os.File    // of a spare, for its config
	outputs [2]*os.File // stdout and stderr, until they are read
	reading sync.WaitGroup

	claim sync.Mutex // guards the fields below
	taken bool       // it has a version, whose log gets the outputs
	ended bool
}

// startWorker spawns workerd with the config. It does not wait for its sockets.
func startWorker(ctx context.Context, o Options, v *version, config []byte) (*worker, error) {
	file, err := writeConfig(v.spec.Local.RunDir, config)
	if err != nil {
		return nil, err
	}
	w := &worker{dir: v.spec.Local.RunDir, exited: make(chan struct{}), config: file, taken: true, inspect: v.spec.Host.Inspect}
	if w.owner, err = ownerFor(v); err != nil {
		file.remove()
		return nil, err
	}
	w.confine = func() error { return confineThread(v.spec.Host.Confine, w.owner != nil, v.profile(), o.Logger) }
	w.calls = &calls{context: context.WithoutCancel(ctx), objects: v.resources.Objects(), dir: checked(v.spec.Host.Confine, w.dir), log: o.Logger, failed: w.kill, blind: w.owner.isHidden()}
	w.attach(o, v)
	if err := w.spawn(o, v.spec.Local.Workerd); err != nil {
		file.remove()
		return nil, fmt.Errorf("starting workerd: %w", err)
	}
	w.watchMemory()
	return w, nil
}

// attach makes v the version of w, before anything of its outputs is read.
func (w *worker) attach(o Options, v *version) {
	w.env, w.rate = v.spec.Values(), newRate(v.log.Write)
	w.stdout, w.stderr = newOutput(v.log), newOutput(v.log)
	w.stdout.emit, w.stderr.emit = w.rate.Write, w.rate.Write
	if v.spec.Host.Traces {
		w.stdout.spans = func(text string) { o.spans.add(v.spec.Ref, text) }
	}
	w.group = cgroup.At(v.spec.Local.Group)
	w.memory.init(int64(v.memoryMB())<<20, o.Rests)
	if v.door {
		w.door = door.New(filepath.Join(w.dir, doorSocket), w.exited)
		w.stdout.own = w.door.Line
	}
}

// spawn wires up the descriptors of the child: the config, by standard input for
// a spare, the control pipe, and both outputs, which are read until it ends.
func (w *worker) spawn(o Options, binary string) (err error) {
	var ends pipes
	defer ends.closeTheirs()
	w.control = ends.make(&err)
	w.outputs = [2]*os.File{ends.make(&err), ends.make(&err)}
	command := workerd.Options{Config: w.config.path, ControlFD: 3, Inspect: w.inspect, DebugAddress: "unix:" + callSocket, Binary: w.owner != nil}
	var stdin *os.File
	if w.config == waits {
		command.Config, command.Binary = "-", true
		stdin, w.input = ends.makeInput(&err)
	}
	if err != nil {
		ends.closeOurs()
		return err
	}
	inherited := []*os.File{ends.theirs[0]}
	if w.config.file != nil {
		command.Config = "/dev/fd/4"
		inherited = append(inherited, w.config.file)
	}
	args := workerd.Command(binary, command)
	w.cmd = &exec.Cmd{
		Path: args[0], Args: args, Dir: w.dir, Env: workerd.Environ(o.Environ),
		Stdout: ends.theirs[1], Stderr: ends.theirs[2], ExtraFiles: inherited,
		SysProcAttr: sysProcAttr(),
	}
	if stdin != nil {
		w.cmd.Stdin = stdin
	}
	release, err := w.owner.dress(w.cmd)
	if err != nil {
		w.owner.ended(w.calls.log)
		ends.closeOurs()
		return err
	}
	defer release()
	if w.taken {
		w.read()
	}
	started := make(chan error)
	go w.run(started)
	return <-started
}

// read reads the outputs until workerd ends, or does not start.
func (w *worker) read() {
	w.reading.Go(func() { w.stdout.read(w.outputs[0]) })
	w.reading.Go(func() { w.stderr.read(w.outputs[1]) })
}

// run starts the process and reaps it, on a thread that lives as long as the
// process: the kernel kills workerd when the thread that started it ends.
func (w *worker) run(started chan<- error) {
	goruntime.LockOSThread()
	defer w.calls.stop()
	err := w.confine()
	if err == nil {
		err = w.calls.prepare()
	}
	if err == nil && w.owner != nil { // it inherits them: those of another uid cannot be set
		err = w.limit(os.Getpid())
	}
	if err == nil {
		err = w.cmd.Start()
	}
	if err == nil {
		w.calls.serve(w.pid())
	}
	if err == nil && w.owner == nil {
		err = w.limit(w.pid())
	}
	started <- err
	if err != nil {
		_ = w.control.Close()
		w.end()
		w.owner.ended(w.calls.log)
		return
	}
	_ = w.cmd.Wait() // the state says it all
	w.owner.ended(w.calls.log)
	if w.end() {
		w.drain()
	}
	close(w.exited)
}

// limit limits what a process may do. The thread that starts workerd is confined and may not.
func (*worker) limit(pid int) error {
	limited := make(chan error)
	go func() { limited <- confine.Limit(pid) }()
	return <-limited
}

// drain reads the last output, for a limited time.
func (w *worker) drain() {
	drained := make(chan struct{})
	go func() { w.reading.Wait(); w.rate.Flush(); close(drained) }()
	t := time.NewTimer(drainLimit)
	defer t.Stop()
	select {
	case <-drained:
	case <-t.C:
	}
}

// sockets are the names of those that workerd listens at.
func (w *worker) sockets() []string {
	names := []string{httpName, pingName, waitName, callName}
	if w.door != nil {
		names = append(names, door.Name)
	}
	if w.inspect {
		names = append(names, workerd.InspectorSocket)
	}
	return names
}

func (w *worker) pid() int { return w.cmd.Process.Pid }

// awaitListening waits until every socket listens. When it fails, workerd is gone.
func (w *worker) awaitListening(ctx context.Context, limits svc.HostConfig) error {
	if w.serving.Load() { // it was started ahead
		return nil
	}
	listening := make(chan error, 1)
	go func() {
		ports, err := workerd.AwaitListening(w.control, w.sockets()...)
		w.port = ports[workerd.InspectorSocket]
		listening <- err
		_, _ = io.Copy(io.Discard, w.control) // ends with workerd
		_ = w.control.Close()
	}()
	defer w.config.remove() // read by now, or of no use
	err := w.await(ctx, listening, limits)
	if err == nil {
		err = w.owner.bar(w.dir)
	}
	if err == nil {
		w.stdout.settle()
		w.serving.Store(true)
		return nil
	}
	w.kill()
	<-w.exited
	return err
}

// await waits for listening as long as the limits of a start allow. The limit of CPU
// time makes a loop at the top level of a module fail on a busy machine as well, and
// no earlier than on an idle one.
func (w *worker) await(ctx context.Context, listening <-chan error, limits svc.HostConfig) error {
	deadline, look := time.NewTimer(limits.StartTimeout), time.NewTicker(cpuLook)
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
			if cputime.Of(w.pid()) >= limits.StartCPU {
				return w.tooSlow(svc.CodeStartupCPULimit, fmt.Sprintf("used %s of CPU time and did not start", limits.StartCPU))
			}
		case <-deadline.C:
			return w.tooSlow(svc.CodeStartupTimeout, fmt.Sprintf("did not start within %s", limits.StartTimeout))
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
	stopped := w.stopped.Load()
	<-w.exitedOrKilled()
	if e := w.tooMuchMemory(); e != nil {
		w.logExit(*e)
		return svc.Errorf(svc.Unprocessable, e.Code, "%s", e.Detail).Printed(w.finalOutput())
	}
	code, text := workerd.Explain(w.stderr.last()+w.stdout.last(), w.env)
	w.lost = code == svc.CodeStartupFailed && !stopped
	text = cmp.Or(text, "workerd ended before the worker listened: "+w.cmd.ProcessState.String())
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

// stop ends the process: gently, and after the grace or when ctx ends by force. Of a worker
// that does not serve yet, nothing is under way.
func (w *worker) stop(ctx context.Context, grace time.Duration) {
	w.stopped.Store(true)
	if !w.serving.Load() {
		w.kill()
		<-w.exited
		return
	}
	_ = w.cmd.Process.Signal(syscall.SIGTERM) // one that is gone needs none
	_ = w.cmd.Process.Signal(syscall.SIGCONT) // it may be stopped because the object store is away
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

// makeInput gives the end for the child of a new pipe, and our end to write, unless err is
// set already.
func (p *pipes) makeInput(err *error) (r, w *os.File) {
	if *err != nil {
		return nil, nil
	}
	if r, w, *err = os.Pipe(); *err != nil {
		return nil, nil
	}
	p.ours, p.theirs = append(p.ours, w), append(p.theirs, r)
	return r, w
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
