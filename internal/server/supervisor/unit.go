package supervisor

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// unit is the runtime of one version over all its processes.
type unit struct {
	cfg Config
	log *slog.Logger
	ref svc.Ref

	ops chan struct{} // holds one token while open, prepare, serve or stop run

	// Owned by the holder of ops, except that a running watchdog owns proc and
	// crashes.
	spec     svc.RuntimeSpec
	proc     *process
	crashes  []crash
	watchdog *watchdog
	stopped  bool

	current atomic.Pointer[process] // the newest with open data; it may have exited

	arming sync.Mutex // held while current changes, and while its host is armed or disarmed
	armed  bool       // guarded by arming: the wanted state of the host

	report sync.Mutex // held during a change of state and its OnChange

	mu        sync.Mutex // guards the fields below
	status    svc.Runtime
	stopping  int // stops that wait for ops
	interrupt context.CancelCauseFunc
}

func newUnit(cfg Config, ref svc.Ref) *unit {
	return &unit{
		cfg: cfg, ref: ref, ops: make(chan struct{}, 1), status: svc.Runtime{Ref: ref, State: svc.RuntimeStopped},
		log: cfg.Logger.With("project", ref.Project, "version", ref.Version),
	}
}

// exclusively runs fn when no other operation runs. A stop cancels fn's context.
func (u *unit) exclusively(ctx context.Context, fn func(context.Context) error) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case u.ops <- struct{}{}:
	}
	defer func() { <-u.ops }()
	if u.stopped {
		return errStopped
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	u.mu.Lock()
	stopping := u.stopping > 0
	u.interrupt = cancel
	u.mu.Unlock()
	if stopping {
		return errStopping
	}
	return fn(ctx)
}

var errStopping = svc.Errorf(svc.Unavailable, svc.CodeRuntimeStopping, "the version's runtime is being stopped")

// open is Supervisor.Open.
func (u *unit) open(ctx context.Context, spec svc.RuntimeSpec) error {
	alive := u.watchdog.alive() || u.proc.alive()
	switch {
	case alive && u.spec.Same(spec):
		return nil
	case alive:
		return svc.Errorf(svc.Conflict, svc.CodeRuntimeOpen, "version %s runs with other settings", u.ref).
			WithHint("stop it first")
	}
	u.spec, u.crashes, u.watchdog = spec, nil, nil
	u.set(svc.RuntimeStarting, svc.Endpoint{}, nil)
	proc, err := u.launch(ctx)
	if err != nil {
		u.set(svc.RuntimeCrashed, svc.Endpoint{}, err)
		return err
	}
	u.proc = proc
	return nil
}

// launch spawns a worker host, which opens the version's data.
func (u *unit) launch(ctx context.Context) (*process, error) {
	proc, err := spawn(ctx, u.cfg, u.spec)
	if err != nil {
		return nil, err
	}
	if err := proc.client.Open(ctx, proc.spec(u.cfg, u.spec)); err != nil {
		err = proc.explain(ctx, err)
		proc.kill()
		<-proc.exited
		return nil, err
	}
	u.launched(ctx, proc)
	return proc, nil
}

// prepare is Supervisor.Prepare.
func (u *unit) prepare(ctx context.Context) (svc.Prepared, error) {
	if u.proc == nil {
		return svc.Prepared{}, errStopped
	}
	p, err := u.proc.client.Prepare(ctx)
	if err != nil {
		return svc.Prepared{}, u.proc.explain(ctx, err)
	}
	return p, nil
}

// serve is Supervisor.Serve.
func (u *unit) serve(ctx context.Context) (svc.Endpoint, error) {
	if u.watchdog.alive() {
		now := u.describe()
		if now.State != svc.RuntimeServing {
			return svc.Endpoint{}, svc.Errorf(svc.Unavailable, svc.CodeRuntimeRestarting, "the version's runtime is being restarted: %s", now.LastError)
		}
		return now.Endpoint, nil
	}
	if !u.proc.alive() {
		return svc.Endpoint{}, errStopped
	}
	e, err := u.proc.serve(ctx)
	if err != nil {
		u.proc.stop(context.WithoutCancel(ctx), 0)
		u.set(svc.RuntimeCrashed, svc.Endpoint{}, err)
		return svc.Endpoint{}, err
	}
	u.set(svc.RuntimeServing, e, nil)
	u.watchdog = u.watchOver(context.WithoutCancel(ctx))
	return e, nil
}

// stop stops the runtime and reports false if it was stopped already.
func (u *unit) stop(ctx context.Context) bool {
	u.mu.Lock()
	u.stopping++
	if u.interrupt != nil {
		u.interrupt(errStopping)
	}
	u.mu.Unlock()
	u.ops <- struct{}{} // the interrupted operation ends soon
	defer func() {
		u.mu.Lock()
		u.stopping--
		u.mu.Unlock()
		<-u.ops
	}()
	if u.stopped {
		return false
	}
	u.stopped = true
	u.watchdog.stop()
	if u.proc.alive() {
		u.proc.stop(ctx, u.cfg.Grace)
	}
	u.set(svc.RuntimeStopped, svc.Endpoint{}, nil)
	return true
}

// set changes the state and calls OnChange, in order.
func (u *unit) set(state svc.RuntimeState, e svc.Endpoint, cause error) {
	u.report.Lock()
	defer u.report.Unlock()
	u.mu.Lock()
	u.status.State, u.status.Endpoint, u.status.Since = state, e, time.Now()
	if cause != nil {
		u.status.LastError = text(cause)
	}
	u.mu.Unlock()
	u.cfg.OnChange(u.ref, state, e)
}

// text returns "<code>: <detail>" of an error.
func text(err error) string {
	var e *svc.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	return e.Code + ": " + e.Detail
}

func (u *unit) state() svc.RuntimeState {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.status.State
}

func (u *unit) describe() svc.Runtime {
	u.mu.Lock()
	r := u.status
	u.mu.Unlock()
	for _, pid := range []int{r.Endpoint.PID, r.Endpoint.WorkerdPID} {
		if pid != 0 {
			r.RSSBytes += rss(pid)
			r.Descriptors += descriptors(pid)
		}
	}
	return r
}
