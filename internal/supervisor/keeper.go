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

// pingTries is how many pings in a row go unanswered before a runtime is killed.
// Several, so that a daemon that was itself suspended for a while does not take
// its own silence for theirs.
const pingTries = 4

// watch waits for the end of u.proc, which it hastens when nothing answers. It
// returns false when ctx ended first.
func (u *unit) watch(ctx context.Context) bool {
	slot, wait, misses := u.cfg.PingTimeout/pingTries, u.cfg.PingEvery, 0
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-u.proc.exited:
			u.died(ctx, u.proc.cause(), time.Since(u.proc.servingSince))
			return true
		case <-timer.C:
		}
		asked := time.Now()
		if u.answers(ctx, slot) {
			misses, wait = 0, u.cfg.PingEvery
		} else {
			misses, wait = misses+1, max(0, slot-time.Since(asked))
		}
		if misses >= pingTries && ctx.Err() == nil && u.proc.alive() {
			u.proc.fail(svc.Errorf(svc.Unavailable, "unresponsive", "the worker answered no ping for %s and was killed", u.cfg.PingTimeout).
				WithHint("a loop that never ends blocks the whole worker"))
			u.proc.kill()
		}
		timer.Reset(wait)
	}
}

func (u *unit) answers(ctx context.Context, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	pong, err := u.proc.client.Ping(ctx)
	if len(pong.Requests) > 0 {
		u.cfg.OnRequests(pong.Requests)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.status.Behind, u.status.DataError = pong.Behind, pong.Error
	return err == nil
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
		for err != nil && willPass(err) && pause(ctx, passRetry) {
			u.log.WarnContext(ctx, "the runtime waits for its data", "error", text(err))
			e, err = u.restart(ctx)
		}
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

// passRetry is how often a runtime is started that waits for the object store.
const passRetry = 2 * time.Second

// willPass tells a start that failed for a reason outside the version, however
// often it does: the object store is away, or somebody reads the data.
func willPass(err error) bool {
	code := svc.CodeOf(err)
	return code == "data_unavailable" || code == "data_in_use"
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
	u.log.WarnContext(ctx, "the runtime died", "error", text(cause), "uptime", uptime)
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
