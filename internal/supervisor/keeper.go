package supervisor

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// keeper keeps a runtime that serves alive, until it is stopped or gives up. A
// nil keeper has given up.
type keeper struct {
	cancel context.CancelFunc
	done   chan struct{}
}

func (k *keeper) alive() bool {
	if k == nil {
		return false
	}
	select {
	case <-k.done:
		return false
	default:
		return true
	}
}

// stop ends the keeper, not the runtime.
func (k *keeper) stop() {
	if k != nil {
		k.cancel()
		<-k.done
	}
}

// keep starts a keeper, which owns u.proc and u.deaths from now on.
func (u *unit) keep(ctx context.Context) *keeper {
	ctx, cancel := context.WithCancel(ctx)
	k := &keeper{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(k.done)
		defer cancel()
		for u.watch(ctx) && u.revive(ctx) {
		}
	}()
	return k
}

// watch waits for the end of u.proc, which it hastens when nothing answers. It
// returns false when ctx ended first.
func (u *unit) watch(ctx context.Context) bool {
	tick := time.NewTicker(u.cfg.PingEvery)
	defer tick.Stop()
	answered := time.Now()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-u.proc.exited:
			u.died(ctx, u.proc.cause(), time.Since(u.proc.servingSince))
			return true
		case <-tick.C:
		}
		pctx, cancel := context.WithDeadline(ctx, answered.Add(u.cfg.PingTimeout))
		err := u.proc.client.Ping(pctx)
		cancel()
		switch {
		case err == nil:
			answered = time.Now()
		case time.Since(answered) >= u.cfg.PingTimeout && ctx.Err() == nil && u.proc.alive():
			u.proc.fail(svc.Errorf(svc.Unavailable, "unresponsive", "the worker answered no ping for %s and was killed", u.cfg.PingTimeout).
				WithHint("a loop that never ends blocks the whole worker"))
			u.proc.kill()
		}
	}
}

// revive starts the runtime again, as often as the policy allows. It returns
// false when there is nothing left to watch.
func (u *unit) revive(ctx context.Context) bool {
	for {
		wait, again := u.cfg.Policy.next(u.deaths)
		if !again {
			u.log.ErrorContext(ctx, "the runtime died too often and is left dead", "deaths", len(u.deaths))
			u.set(StateCrashed, Endpoint{}, nil)
			return false
		}
		u.set(StateBackoff, Endpoint{}, nil)
		if !pause(ctx, wait) {
			return false
		}
		u.count()
		e, err := u.restart(ctx)
		if err == nil {
			u.set(StateServing, e, nil)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		u.died(ctx, err, 0)
	}
}

func (u *unit) restart(ctx context.Context) (Endpoint, error) {
	u.set(StateStarting, Endpoint{}, nil)
	proc, err := u.launch(ctx)
	if err != nil {
		return Endpoint{}, err
	}
	u.proc = proc
	e, err := proc.serve(ctx)
	if err != nil {
		proc.stop(context.WithoutCancel(ctx), 0)
	}
	return e, err
}

func (u *unit) died(ctx context.Context, cause error, uptime time.Duration) {
	u.deaths = u.cfg.Policy.forget(append(u.deaths, death{at: time.Now(), uptime: uptime}))
	u.mu.Lock()
	u.status.LastError = text(cause)
	u.mu.Unlock()
	u.log.WarnContext(ctx, "the runtime died", "error", cause, "uptime", uptime)
	u.cfg.OnRestart(u.ref, svc.CodeOf(cause))
}

func (u *unit) count() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.status.Restarts++
}

// pause waits for d and reports whether it did.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
