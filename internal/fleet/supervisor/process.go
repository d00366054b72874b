package supervisor

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/driver"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	stopSlack  = 2 * time.Second  // time to close the data, after the grace
	noticeWait = 10 * time.Second // time between the end of the control line and the exit
)

// process is one worker host of a version, with what the supervisor knows of it. It is alive
// until driver.Host.Exited is closed.
type process struct {
	driver.Host

	pulse *pulse

	servingSince time.Time // set by serve
	stopping     atomic.Bool
	armed        svc.Arming // state of the host; guarded by unit.arming
	readOnly     bool       // what the host was opened with

	mu     sync.Mutex // guards the fields below
	reason error      // first reported reason of its end
	logged bool       // the host wrote it to the log of the version
}

// take gives a version a worker host, and sends it nothing.
func (u *unit) take(ctx context.Context, spec svc.RuntimeSpec, fresh bool) (p *process, spare bool, err error) {
	h, spare, err := u.driver.Take(ctx, spec, fresh)
	if err != nil {
		return nil, false, err
	}
	p = &process{Host: h, pulse: newPulse(h)}
	h.Hear(func(n control.Notice) { p.onNotice(u.cfg, n) })
	return p, spare, nil
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

// spec returns s with the fields that the supervisor and the place of the host set.
func (p *process) spec(cfg Config, s svc.RuntimeSpec) svc.RuntimeSpec {
	s.Host = cfg.Host
	return p.Fill(s)
}

// listen listens for the calls of the worker until the end of the host.
func (p *process) listen(ctx context.Context, cfg Config, s svc.RuntimeSpec) error {
	calls, err := cfg.Calls(ctx, s, p.Dir(), p.PID())
	if err != nil {
		return err
	}
	go func() {
		<-p.Exited()
		_ = calls.Close() // its sockets are gone with the directory
	}()
	return nil
}

// serve starts the worker.
func (p *process) serve(ctx context.Context) (svc.Endpoint, error) {
	e, err := p.Client().Serve(ctx)
	if err == nil {
		e, err = p.Locate(ctx, e)
	}
	if err != nil {
		return svc.Endpoint{}, p.explain(ctx, err)
	}
	p.servingSince = time.Now()
	e.StartedAt = p.servingSince
	return e, nil
}

func (p *process) alive() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.Exited():
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
	wake, err := p.Client().Stop(ctx, grace)
	if err != nil { // the host is killed
		wake = svc.Wake{At: time.Now()}
	}
	select {
	case <-p.Exited():
	case <-ctx.Done():
		p.Kill()
		<-p.Exited()
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

// cause returns why an exited process ended: what the host has said, else what its place has
// seen, else why it was killed.
func (p *process) cause() error {
	end := p.End()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case end.Err != nil && !p.logged:
		return end.Err
	case p.reason != nil:
		return p.reason
	}
	return svc.Errorf(svc.Unavailable, svc.CodeHostExited, "the worker host ended: %s", end.State).
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
	case <-p.Exited():
		return p.cause()
	case <-ctx.Done():
	case <-t.C:
	}
	return err
}
