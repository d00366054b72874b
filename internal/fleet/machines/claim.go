package machines

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// replaceAfter is how long after its claim a machine is replaced whose version does not serve.
	replaceAfter = 2 * time.Second
	// replacePause is the time for the last steps of a deploy, when the version serves.
	replacePause = 250 * time.Millisecond
)

// claim gives h its version. Without an error the version owns h.
func (f *Fleet) claim(ctx context.Context, w *want, h *host) error {
	if err := f.claimMachine(ctx, w, h); err != nil {
		if errors.Is(err, svc.Conflict) {
			h.lose(unknown(err))
		} else {
			h.untake()
		}
		return err
	}
	err := h.assign(w.spec)
	if err != nil {
		h.Kill() //nolint:contextcheck // does not wait
	}
	return err
}

// claimMachine makes the machine of h the version's. One that came with the version is claimed
// already, unless the daemon before has ended at that moment.
func (f *Fleet) claimMachine(ctx context.Context, w *want, h *host) error {
	began := time.Now()
	err := f.cfg.Policy.Claim(ctx, w.spec, h.machine)
	if err != nil {
		return err
	}
	if h.mark == "" {
		f.cfg.OnEvent(EventClaimed)
		f.cfg.Logger.InfoContext(ctx, "a spare worker host got a version", "project", w.spec.Ref.Project, "version", w.spec.Ref.Version, "machine", h.name, "duration", time.Since(began))
	}
	f.tasks.Go(func() { f.replace(w.spec, h) })
	return nil
}

// replace has another spare started in place of h: soon after its version serves, so that the start does
// not delay it, or immediately if other versions wait for spares.
func (f *Fleet) replace(spec svc.RuntimeSpec, h *host) {
	if f.awaits(h, h.located, replaceAfter) {
		f.awaits(h, nil, replacePause)
	}
	for {
		err := f.cfg.Policy.Replace(f.life, spec, h.machine)
		if err == nil {
			return
		}
		f.cfg.Logger.WarnContext(f.life, "no spare worker host was started in place of one that got a version; retrying", "machine", h.name, "error", err)
		if backoff.Sleep(f.life, claimRetry) != nil {
			return
		}
	}
}

// awaits waits for done, at most for a time, and reports whether it came: not if another version waits for
// a spare, or h ends.
func (f *Fleet) awaits(h *host, done <-chan struct{}, limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-h.exited:
	case <-f.crowded():
	case <-t.C:
	case <-f.life.Done():
	}
	return false
}

// crowded returns a channel that is closed when a version waits for a spare.
func (f *Fleet) crowded() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.wanting) > 0 {
		now := make(chan struct{})
		close(now)
		return now
	}
	return f.crowd
}

// claimSoon gives h its version, and claims its machine meanwhile.
func (f *Fleet) claimSoon(ctx context.Context, w *want, h *host) error {
	if err := h.assign(w.spec); err != nil {
		h.Kill() //nolint:contextcheck // does not wait
		return err
	}
	h.claimed = make(chan struct{})
	f.tasks.Go(func() {
		defer close(h.claimed)
		h.refused = f.insist(ctx, w, h)
	})
	return nil
}

// insist claims the machine of h as long as the version may wait and the host runs. A machine that is
// another version's is no more used.
func (f *Fleet) insist(ctx context.Context, w *want, h *host) error {
	ctx, cancel := context.WithDeadlineCause(ctx, w.began.Add(f.cfg.Wait), errWaited)
	defer cancel()
	defer context.AfterFunc(f.life, cancel)() //nolint:contextcheck // the fleet may end first
	go func() {
		select {
		case <-h.exited:
			cancel()
		case <-ctx.Done():
		}
	}()
	for {
		err := f.claimMachine(ctx, w, h)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, svc.Conflict):
			f.cfg.Logger.WarnContext(ctx, "a spare worker host cannot be used", "version", w.spec.Ref.String(), "machine", h.name, "error", err)
			h.Kill() //nolint:contextcheck // does not wait
			return control.ErrClosed
		}
		f.cfg.Logger.WarnContext(ctx, "a spare worker host cannot be used yet; retrying", "version", w.spec.Ref.String(), "machine", h.name, "error", err)
		w.why = err
		f.tell(w)
		if backoff.Sleep(ctx, claimRetry) != nil {
			h.Kill() //nolint:contextcheck // as above
			return f.ended(ctx, w)
		}
	}
}

// ended is the error of a version whose machine was not claimed before the end of ctx.
func (f *Fleet) ended(ctx context.Context, w *want) error {
	if errors.Is(context.Cause(ctx), errWaited) {
		return f.noSpare(w.spec.Ref, w.why)
	}
	return nil // its host, or its start, has ended
}

// Keep is driver.Host.Keep.
func (h *host) Keep(ctx context.Context) error {
	if h.claimed == nil {
		return nil
	}
	select {
	case <-h.claimed:
		return h.refused
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
