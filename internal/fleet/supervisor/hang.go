package supervisor

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// attended does a verb of the worker host p, and kills p if it replies to no ping meanwhile: the host
// keeps the time limits of its verbs itself, and one that hangs keeps none.
func (u *unit) attended(ctx context.Context, p *process, verb func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go u.attend(ctx, p)
	return verb(ctx)
}

// attend pings p until ctx ends. A reply of any kind counts: the worker may not have started yet.
func (u *unit) attend(ctx context.Context, p *process) {
	slot := u.cfg.HangTimeout / (2 * pingTries)
	tick := time.NewTicker(slot)
	defer tick.Stop()
	for misses := 0; misses < pingTries; {
		select {
		case <-ctx.Done():
			return
		case <-p.Exited():
			return
		case <-tick.C:
		}
		if misses++; u.replies(ctx, p, slot) {
			misses = 0
		}
	}
	if ctx.Err() == nil && p.alive() {
		p.fail(svc.Errorf(svc.Unavailable, svc.CodeUnresponsive, "the worker host answered no ping for %s and was killed", u.cfg.HangTimeout).
			WithHint("report this with the log of the version"))
		p.Kill()
	}
}

// replies reports whether the host says anything within limit.
func (u *unit) replies(ctx context.Context, p *process, limit time.Duration) bool {
	return !errors.Is(u.ping(ctx, p, limit), context.DeadlineExceeded)
}
