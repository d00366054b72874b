package supervisor

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// watchdog keeps a runtime serving until the version is stopped. It changes the unit
// only as the holder of unit.ops, like every operation: no state is published by
// anything else.
type watchdog struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// stop ends the watchdog but not the runtime. The caller holds ops.
func (w *watchdog) stop() {
	if w != nil {
		w.cancel()
		<-w.done
	}
}

// watchOver starts the watchdog: of the serving process p or, if p is nil, of a runtime
// that waits. The caller holds ops.
func (u *unit) watchOver(ctx context.Context, p *process, wait pause) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &watchdog{cancel: cancel, done: make(chan struct{})}
	u.watchdog = w
	go func() {
		defer close(w.done)
		defer cancel()
		u.keep(ctx, p, wait)
	}()
}

// keep watches p until it ends, waits, and starts the next process, until ctx ends.
func (u *unit) keep(ctx context.Context, p *process, wait pause) {
	for {
		if p != nil {
			if !u.watch(ctx, p) {
				return
			}
			if u.exclusively(ctx, func(ctx context.Context) error {
				if !p.isLogged() {
					u.cfg.Unlogged(u.ref, text(p.cause()))
				}
				wait = u.crashed(ctx, p.cause(), time.Since(p.servingSince))
				return nil
			}) != nil {
				return // the version is being stopped
			}
		}
		if !u.await(ctx, wait) || !u.awaitUnsealed(ctx) {
			return
		}
		if u.exclusively(ctx, func(ctx context.Context) error {
			p, wait = u.restart(ctx)
			return context.Cause(ctx)
		}) != nil {
			return
		}
	}
}

// restart starts the runtime. If that fails, p is nil and wait is before the next try.
func (u *unit) restart(ctx context.Context) (p *process, wait pause) {
	u.starting()
	p, err := u.launch(ctx)
	if err == nil {
		u.proc = p
		err = u.serveWith(ctx, p)
	}
	switch {
	case err == nil:
		return p, pause{}
	case ctx.Err() != nil:
		return nil, pause{}
	}
	return nil, u.crashed(ctx, err, 0)
}

// pingTries is the number of consecutive unanswered pings after which a runtime is
// killed. It is more than one because the daemon itself may have been suspended.
const pingTries = 4

// watch waits for the end of p and kills it if it does not answer pings, unless it works on
// its disk or gets no processor. A runtime that does nothing is pinged rarely, and as soon as it works. It returns
// false if ctx ends first.
func (u *unit) watch(ctx context.Context, p *process) bool {
	pulse := u.activity.add(u.ref, p)
	defer u.activity.remove(pulse)
	slot, wait, misses := u.cfg.PingTimeout/pingTries, u.cfg.PingEvery, 0
	timer := time.NewTimer(wait)
	defer timer.Stop()
	var idle <-chan struct{} // pulse.worked while the runtime does nothing
	var silent silence
	for {
		worked := false
		select {
		case <-ctx.Done():
			return false
		case <-p.Exited():
			return true
		case <-idle:
			worked = true
		case <-timer.C:
		}
		asked := time.Now()
		answered := pulse.ping(func() bool { return u.answers(ctx, p, slot) })
		idle = nil
		switch worked = pulse.take() || worked || u.isBehind(); {
		case !answered && !u.cfg.Host.Inspect: // a debugger may hold the worker
			misses, wait = misses+1, max(0, slot-time.Since(asked))
			if silent.excused(p, u.cfg.PingTimeout, u.cfg.DiskTimeout) {
				misses = 0
			}
		case worked: // the next ping tells what its work has left
			misses, wait, silent = 0, u.cfg.PingEvery, silence{}
		default:
			misses, wait, idle, silent = 0, u.cfg.PingIdle, pulse.worked, silence{}
		}
		if misses >= pingTries && ctx.Err() == nil && p.alive() {
			p.fail(svc.Errorf(svc.Unavailable, svc.CodeUnresponsive, "the worker answered no ping for %s and was killed", silent.limit(u.cfg.PingTimeout, u.cfg.DiskTimeout)).
				WithHint("remove the loop that blocks the worker, or do less in one request"))
			p.Kill()
		}
		timer.Reset(wait)
	}
}

// isBehind reports whether the object store does not have everything, as of the last ping.
func (u *unit) isBehind() bool {
	now := u.describe()
	return now.Behind > 0 || now.DataError != ""
}

func (u *unit) answers(ctx context.Context, p *process, limit time.Duration) bool {
	return u.ping(ctx, p, limit) == nil
}

// ping pings p, and passes on what its host reports.
func (u *unit) ping(ctx context.Context, p *process, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	pong, err := p.Client().Ping(ctx)
	if len(pong.Requests) > 0 {
		u.cfg.OnRequests(pong.Requests)
	}
	u.cfg.OnEvents(pong.Events)
	u.cfg.onSpans(pong.Spans)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.status.Behind, u.status.DataError, u.status.Tallies = pong.Behind, pong.Error, pong.Tallies
	if len(pong.Events) > 0 {
		u.status.WorkedAt = time.Now()
	}
	return err
}
