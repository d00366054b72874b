package supervisor

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

// watchdog restarts a serving runtime after crashes, until it is stopped or the
// runtime is in a crash loop. A nil watchdog has ended.
type watchdog struct {
	cancel context.CancelFunc
	done   chan struct{}
}

func (w *watchdog) alive() bool {
	if w == nil {
		return false
	}
	select {
	case <-w.done:
		return false
	default:
		return true
	}
}

// stop ends the watchdog but not the runtime.
func (w *watchdog) stop() {
	if w != nil {
		w.cancel()
		<-w.done
	}
}

// watchOver starts a watchdog, which owns u.proc and u.crashes until it ends.
func (u *unit) watchOver(ctx context.Context) *watchdog {
	ctx, cancel := context.WithCancel(ctx)
	w := &watchdog{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		defer cancel()
		for u.watch(ctx) && u.restartUntilServing(ctx) {
		}
	}()
	return w
}

// pingTries is the number of consecutive unanswered pings after which a runtime is
// killed. It is more than one because the daemon itself may have been suspended.
const pingTries = 4

// watch waits for the end of u.proc and kills it if it does not answer pings. It
// returns false if ctx ends first.
func (u *unit) watch(ctx context.Context) bool {
	slot, wait, misses := u.cfg.PingTimeout/pingTries, u.cfg.PingEvery, 0
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-u.proc.exited:
			u.crashed(ctx, u.proc.cause(), time.Since(u.proc.servingSince))
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
			u.proc.fail(svc.Errorf(svc.Unavailable, svc.CodeUnresponsive, "the worker answered no ping for %s and was killed", u.cfg.PingTimeout).
				WithHint("remove the loop that blocks the worker"))
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

// restartUntilServing restarts the runtime as often as the policy allows. It returns
// false if the runtime is in a crash loop or ctx ended.
func (u *unit) restartUntilServing(ctx context.Context) bool {
	for {
		wait, again := u.cfg.Policy.next(u.crashes)
		if !again {
			u.log.ErrorContext(ctx, "runtime crash loop: giving up", "crashes", len(u.crashes))
			u.set(svc.RuntimeCrashed, svc.Endpoint{}, nil)
			return false
		}
		u.set(svc.RuntimeBackoff, svc.Endpoint{}, nil)
		if backoff.Sleep(ctx, wait) != nil {
			return false
		}
		u.count()
		e, err := u.restart(ctx)
		for err != nil && isTransient(err) && backoff.Sleep(ctx, transientRetry) == nil {
			u.log.WarnContext(ctx, "data of the version unavailable; retrying the start", "error", text(err), "retry_in", transientRetry)
			e, err = u.restart(ctx)
		}
		if err == nil {
			u.set(svc.RuntimeServing, e, nil)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		u.crashed(ctx, err, 0)
	}
}

// transientRetry is the interval of starts while the data is unavailable.
const transientRetry = 2 * time.Second

// isTransient reports whether a start failed for a reason outside the version: the
// object store does not answer, or another process reads the data. Such a failure
// does not count as a crash.
func isTransient(err error) bool {
	code := svc.CodeOf(err)
	return code == svc.CodeDataUnavailable || code == svc.CodeDataInUse
}

func (u *unit) restart(ctx context.Context) (svc.Endpoint, error) {
	u.set(svc.RuntimeStarting, svc.Endpoint{}, nil)
	proc, err := u.launch(ctx)
	if err != nil {
		return svc.Endpoint{}, err
	}
	u.proc = proc
	e, err := proc.serve(ctx)
	if err != nil {
		proc.stop(context.WithoutCancel(ctx), 0)
	}
	return e, err
}

func (u *unit) crashed(ctx context.Context, cause error, uptime time.Duration) {
	u.crashes = u.cfg.Policy.trim(append(u.crashes, crash{at: time.Now(), uptime: uptime}))
	u.mu.Lock()
	u.status.LastError = text(cause)
	u.mu.Unlock()
	u.log.WarnContext(ctx, "runtime crashed", "error", text(cause), "uptime", uptime)
	u.cfg.OnRestart(u.ref, svc.CodeOf(cause))
}

func (u *unit) count() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.status.Restarts++
}
