package supervisor

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/driver"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// unit is the runtime of one version over all its processes.
type unit struct {
	cfg      Config
	driver   driver.Driver // of all units
	activity *activity     // likewise
	log      *slog.Logger
	ref      svc.Ref

	ops chan struct{} // holds one token while an operation or a change by the watchdog runs

	// Owned by the holder of ops, who also publishes each change of state.
	spec     svc.RuntimeSpec
	proc     *process
	staged   *process  // it waits for the version's data; nil for none
	crashes  int       // in a row: since the last process that was stable
	watchdog *watchdog // nil unless the runtime is to serve
	stopped  bool

	asked, urgent chan struct{} // end a wait earlier; each has room for one signal

	current atomic.Pointer[process] // the newest with open data; it may have exited

	arming sync.Mutex // held while current changes, and while its host is armed or disarmed
	armed  svc.Arming // guarded by arming: the wanted state of the host
	told   bool       // guarded by arming: armed is what the daemon wants, not what the spec says

	report sync.Mutex // held during a change of state and its OnChange

	mu        sync.Mutex // guards the fields below
	status    svc.Runtime
	starts    int           // starts so far, also failed ones
	changed   chan struct{} // closed at the next change of state
	stopping  int           // stops that wait for ops
	unsealed  chan struct{} // closed when a release no longer has the data sealed; nil while it has not
	interrupt context.CancelCauseFunc
}

func newUnit(s *Supervisor, ref svc.Ref) *unit {
	return &unit{
		cfg: s.cfg, driver: s.driver, activity: s.activity, ref: ref, ops: make(chan struct{}, 1), status: svc.Runtime{Ref: ref, State: svc.RuntimeStopped},
		asked: make(chan struct{}, 1), urgent: make(chan struct{}, 1), changed: make(chan struct{}),
		log: s.cfg.Logger.With("project", ref.Project, "version", ref.Version),
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
	alive := u.watchdog != nil || u.proc.alive()
	switch {
	case alive && u.spec.Same(spec):
		return nil
	case alive:
		return svc.Errorf(svc.Conflict, svc.CodeRuntimeOpen, "version %s runs with other settings", u.ref).
			WithHint("stop it first")
	}
	u.spec = spec
	u.starting()
	proc, err := u.launchStaged(ctx)
	if err != nil {
		u.set(svc.RuntimeCrashed, svc.Endpoint{}, err)
		return err
	}
	u.proc = proc
	return nil
}

// launch gives the version a worker host, a spare one or a new one, which opens its data.
func (u *unit) launch(ctx context.Context) (*process, error) {
	p, spare, err := u.begin(ctx, u.openIn)
	if p == nil {
		return nil, err
	}
	return u.launchedBy(ctx, p, spare, err)
}

// begin does the first verb of a worker host, in a spare one or a new one.
func (u *unit) begin(ctx context.Context, do func(context.Context, *process) error) (p *process, spare bool, err error) {
	u.driver.Begin()
	defer u.driver.End()
	for fresh := false; ; fresh = true {
		p, spare, err := u.take(ctx, u.spec, fresh)
		if err != nil {
			return nil, false, err
		}
		err = do(ctx, p)
		if !spare || err == nil || ctx.Err() != nil || !errors.Is(err, control.ErrClosed) {
			return p, spare, err
		}
		u.log.WarnContext(ctx, "spare worker host ended; starting another", "error", p.cause())
	}
}

// openIn opens the version's data in p, or ends p.
func (u *unit) openIn(ctx context.Context, p *process) error {
	return u.orEnd(ctx, p, func() error {
		if err := p.listen(ctx, u.cfg, u.spec); err != nil {
			return err
		}
		return u.openData(ctx, p)
	})
}

func (u *unit) openData(ctx context.Context, p *process) error {
	spec := u.opening()
	p.readOnly = spec.ReadOnly
	if err := u.attended(ctx, p, func(ctx context.Context) error { return p.Client().Open(ctx, p.spec(u.cfg, spec)) }); err != nil {
		return err
	}
	return p.Keep(ctx)
}

// orEnd does something in p, and ends p when it fails.
func (u *unit) orEnd(ctx context.Context, p *process, do func() error) error {
	err := do()
	if err != nil {
		_ = p.explain(ctx, err) // a host that ends has time to say why
		p.Kill()
		<-p.Exited()
		if refused := p.Keep(ctx); refused != nil {
			err = refused // the first reason
		}
	}
	return err
}

// launchedBy is the end of launch, with the error of openIn.
func (u *unit) launchedBy(ctx context.Context, p *process, spare bool, err error) (*process, error) {
	if err != nil {
		return nil, p.explain(ctx, err)
	}
	u.cfg.OnLaunch(spare)
	u.launched(ctx, p)
	return p, nil
}

// prepare is Supervisor.Prepare.
func (u *unit) prepare(ctx context.Context) (p svc.Prepared, err error) {
	if u.proc == nil {
		return svc.Prepared{}, errStopped
	}
	err = u.attended(ctx, u.proc, func(ctx context.Context) error {
		p, err = u.proc.Client().Prepare(ctx)
		return err
	})
	if err != nil {
		return svc.Prepared{}, u.proc.explain(ctx, err)
	}
	return p, nil
}

// serve is Supervisor.Serve.
func (u *unit) serve(ctx context.Context) (svc.Endpoint, error) {
	if u.watchdog != nil {
		now := u.describe()
		if now.State != svc.RuntimeServing {
			return svc.Endpoint{}, restarting(now)
		}
		return now.Endpoint, nil
	}
	if !u.proc.alive() {
		return svc.Endpoint{}, errStopped
	}
	if err := u.serveWith(ctx, u.proc); err != nil {
		u.set(svc.RuntimeCrashed, svc.Endpoint{}, err)
		return svc.Endpoint{}, err
	}
	u.watchOver(ctx, u.proc, pause{})
	return u.describe().Endpoint, nil
}

// serveWith starts the worker in p and publishes that it serves, or stops p.
func (u *unit) serveWith(ctx context.Context, p *process) error {
	var e svc.Endpoint
	err := u.attended(ctx, p, func(ctx context.Context) (err error) {
		e, err = p.serve(ctx)
		return err
	})
	if err != nil {
		p.stop(context.WithoutCancel(ctx), 0)
		return err
	}
	u.set(svc.RuntimeServing, e, nil)
	return nil
}

// restartAfter is Supervisor.Restart.
func (u *unit) restartAfter(ctx context.Context, cause error) error {
	switch {
	case u.watchdog != nil:
		return nil
	case u.state() != svc.RuntimeCrashed:
		return errStopped
	}
	u.watchOver(ctx, nil, u.crashed(ctx, cause, 0))
	return nil
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
	u.watchdog.stop() // it waits for ops at most
	if u.staged.alive() {
		u.staged.stop(ctx, 0)
	}
	if u.proc.alive() {
		u.proc.stop(ctx, u.cfg.Grace)
	}
	u.set(svc.RuntimeStopped, svc.Endpoint{}, nil)
	return true
}

// leave ends the operations of u and leaves its process running.
func (u *unit) leave() {
	u.mu.Lock()
	u.stopping++
	if u.interrupt != nil {
		u.interrupt(errStopping)
	}
	u.mu.Unlock()
	u.ops <- struct{}{} // for good: the watchdog must not restart it
	u.stopped = true
	go u.watchdog.stop() // it may wait for ops
}

// starting publishes that a start begins.
func (u *unit) starting() {
	u.mu.Lock()
	u.starts++
	u.mu.Unlock()
	u.set(svc.RuntimeStarting, svc.Endpoint{}, nil)
}

// set changes the state. The caller holds ops.
func (u *unit) set(state svc.RuntimeState, e svc.Endpoint, cause error) {
	u.change(func(r *svc.Runtime) { enter(r, state, e, cause) })
}

// enter changes the state of r. A nil cause keeps the last error.
func enter(r *svc.Runtime, state svc.RuntimeState, e svc.Endpoint, cause error) {
	r.State, r.Endpoint, r.Since, r.RetryAt = state, e, time.Now(), time.Time{}
	if cause != nil {
		r.LastError = text(cause)
	}
}

// change changes the status and calls OnChange, in order.
func (u *unit) change(f func(*svc.Runtime)) {
	u.report.Lock()
	defer u.report.Unlock()
	u.mu.Lock()
	f(&u.status)
	now, changed := u.status, u.changed
	u.changed = make(chan struct{})
	u.mu.Unlock()
	u.cfg.OnChange(now)
	close(changed)
}

// look returns the status after its OnChange, the number of starts, and a channel that
// is closed at the next change.
func (u *unit) look() (now svc.Runtime, starts int, changed <-chan struct{}) {
	u.report.Lock()
	defer u.report.Unlock()
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.status, u.starts, u.changed
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
	defer u.mu.Unlock()
	return u.status
}

// measured describes the runtime with the memory, descriptors and processor time of its
// processes, if it serves.
func (u *unit) measured() svc.Runtime {
	r, p := u.describe(), u.current.Load()
	if r.Endpoint.Socket != "" && p.alive() {
		use := p.Usage()
		r.RSSBytes, r.Descriptors, r.CPU = use.RSSBytes, use.Descriptors, use.CPU
	}
	return r
}
