package supervisor

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// unit is one version's runtime, through all its processes.
type unit struct {
	cfg Config
	log *slog.Logger
	ref svc.Ref

	ops chan struct{} // holds one token while open, prepare, serve or stop run

	// Owned by whoever holds ops, except that the keeper owns proc and deaths
	// while it runs.
	spec   Spec
	proc   *process
	deaths []death
	keeper *keeper
	gone   bool

	current atomic.Pointer[process] // the newest with the data open; it may be dead

	report sync.Mutex // held while the state changes and OnChange is told

	mu        sync.Mutex // guards what follows
	status    Runtime
	stopping  int // stops that wait for ops
	interrupt context.CancelCauseFunc
}

func newUnit(cfg Config, ref svc.Ref) *unit {
	return &unit{
		cfg: cfg, ref: ref, ops: make(chan struct{}, 1), status: Runtime{Ref: ref, State: StateStopped},
		log: cfg.Logger.With("project", ref.Project, "version", ref.Version),
	}
}

// exclusively runs fn while no other operation runs. A stop ends fn's context.
func (u *unit) exclusively(ctx context.Context, fn func(context.Context) error) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case u.ops <- struct{}{}:
	}
	defer func() { <-u.ops }()
	if u.gone {
		return errGone
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

var errStopping = svc.Errorf(svc.Unavailable, "runtime_stopping", "the version's runtime is being stopped")

// open is Supervisor.Open.
func (u *unit) open(ctx context.Context, spec Spec) error {
	alive := u.keeper.alive() || u.proc.alive()
	switch {
	case alive && u.spec.same(spec):
		return nil
	case alive:
		return svc.Errorf(svc.Conflict, "runtime_open", "version %s runs with other settings", u.ref).
			WithHint("stop it first")
	}
	u.spec, u.deaths, u.keeper = spec, nil, nil
	u.set(StateStarting, Endpoint{}, nil)
	proc, err := u.launch(ctx)
	if err != nil {
		u.set(StateCrashed, Endpoint{}, err)
		return err
	}
	u.proc = proc
	return nil
}

// launch spawns a host and has it open the version's data.
func (u *unit) launch(ctx context.Context) (*process, error) {
	proc, err := spawn(u.cfg, u.spec)
	if err != nil {
		return nil, err
	}
	if err := proc.client.Open(ctx, proc.spec(u.cfg, u.spec)); err != nil {
		err = proc.explain(ctx, err)
		proc.kill()
		<-proc.exited
		return nil, err
	}
	u.current.Store(proc)
	return proc, nil
}

// prepare is Supervisor.Prepare.
func (u *unit) prepare(ctx context.Context) (control.Prepared, error) {
	if u.proc == nil {
		return control.Prepared{}, errGone
	}
	p, err := u.proc.client.Prepare(ctx)
	if err != nil {
		return control.Prepared{}, u.proc.explain(ctx, err)
	}
	return p, nil
}

// serve is Supervisor.Serve.
func (u *unit) serve(ctx context.Context) (Endpoint, error) {
	if u.keeper.alive() {
		now := u.describe()
		if now.State != StateServing {
			return Endpoint{}, svc.Errorf(svc.Unavailable, "runtime_restarting", "the version's runtime is being restarted: %s", now.LastError)
		}
		return now.Endpoint, nil
	}
	if !u.proc.alive() {
		return Endpoint{}, errGone
	}
	e, err := u.proc.serve(ctx)
	if err != nil {
		u.proc.stop(context.WithoutCancel(ctx), 0)
		u.set(StateCrashed, Endpoint{}, err)
		return Endpoint{}, err
	}
	u.set(StateServing, e, nil)
	u.keeper = u.keep(context.WithoutCancel(ctx))
	return e, nil
}

// stop ends the runtime and reports whether it was there to be ended.
func (u *unit) stop(ctx context.Context) bool {
	u.mu.Lock()
	u.stopping++
	if u.interrupt != nil {
		u.interrupt(errStopping)
	}
	u.mu.Unlock()
	u.ops <- struct{}{} // the operation that was interrupted ends soon
	defer func() {
		u.mu.Lock()
		u.stopping--
		u.mu.Unlock()
		<-u.ops
	}()
	if u.gone {
		return false
	}
	u.gone = true
	u.keeper.stop()
	if u.proc.alive() {
		u.proc.stop(ctx, u.cfg.Grace)
	}
	u.set(StateStopped, Endpoint{}, nil)
	return true
}

// set changes the state and tells OnChange, in order.
func (u *unit) set(state State, e Endpoint, cause error) {
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

// text is what an error says in short, without the worker's own words.
func text(err error) string {
	var e *svc.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	line, _, _ := strings.Cut(e.Detail, "\n")
	return e.Code + ": " + line
}

func (u *unit) describe() Runtime {
	u.mu.Lock()
	r := u.status
	u.mu.Unlock()
	for _, pid := range []int{r.Endpoint.PID, r.Endpoint.WorkerdPID} {
		if pid != 0 {
			r.RSSBytes += rss(pid)
		}
	}
	return r
}
