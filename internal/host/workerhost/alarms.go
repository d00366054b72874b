package workerhost

import (
	"context"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/host/entry"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

// The times of calls that tell the worker whether alarms begin.
const (
	holdLimit = 2 * time.Second        // for one call
	holdRetry = 100 * time.Millisecond // before the first retry
	holdPause = 5 * time.Second        // at most, before a later one
)

// holds are the reasons why no alarm of a Durable Object begins.
type holds uint8

const (
	holdEvents   holds = 1 << iota // the version gets no events
	holdReadOnly                   // the project is read-only
	holdPaused                     // a release is under way
)

// hold is whether alarms begin, which workerd starts by itself, and what the worker knows of it.
type hold struct {
	mu       sync.Mutex // held while a message to the worker is under way
	reasons  holds      // none: alarms begin
	worker   *worker    // it knows told; nil if that is unknown
	told     bool
	retrying bool
}

// set changes one reason. It needs mu.
func (o *hold) set(reason holds, on bool) {
	o.reasons &^= reason
	if on {
		o.reasons |= reason
	}
}

// openWith makes the state that of a version which opens.
func (o *hold) openWith(spec svc.RuntimeSpec) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.set(holdEvents, !spec.BeginsWithEvents())
	o.set(holdReadOnly, spec.ReadOnly)
}

// isOn reports whether alarms wait.
func (o *hold) isOn() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.reasons != 0
}

// starts notes that w starts with alarms that wait, or do not.
func (o *hold) starts(w *worker, on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.worker, o.told = w, on
}

// holdAlarms changes one reason. When it returns without an error, no alarm begins any more, or
// those that are due begin. After an error the host tells the worker again, as long as that runs.
func (h *Host) holdAlarms(ctx context.Context, reason holds, on bool) error {
	h.hold.mu.Lock()
	defer h.hold.mu.Unlock()
	h.hold.set(reason, on)
	return h.tellHold(ctx)
}

// toldAlarms tells a worker that has just started what has changed since its config was written.
func (h *Host) toldAlarms(ctx context.Context) {
	h.hold.mu.Lock()
	defer h.hold.mu.Unlock()
	if err := h.tellHold(ctx); err != nil {
		h.opts.Logger.WarnContext(ctx, "cannot tell the worker whether alarms begin; retrying", "error", err)
	}
}

// tellHold tells the worker whether alarms wait, unless it knows, or has no Durable Objects. One that
// starts gets it when it serves. It needs h.hold.mu.
func (h *Host) tellHold(ctx context.Context) error {
	w, on := h.running(), h.hold.reasons != 0
	if w == nil || !w.hasObjects() || !w.serving.Load() || h.hold.worker == w && h.hold.told == on {
		return nil
	}
	h.hold.worker = nil
	path := entry.PathBegin
	if on {
		path = entry.PathHold
	}
	client := waitingClient(filepath.Join(w.dir, waitSocket))
	defer client.CloseIdleConnections()
	_, err := askWaiting(ctx, client, http.MethodPost, path, holdLimit)
	if err == nil {
		h.hold.worker, h.hold.told = w, on
		return nil
	}
	if w.isGone() { // with its alarms, which are stored
		return nil
	}
	h.retryHold(ctx, w)
	return svc.Errorf(svc.Unavailable, svc.CodeRuntimeUnavailable, "cannot tell the worker whether alarms of Durable Objects begin").
		WithHint("try again; read the log of the worker host if it continues").Because(err)
}

// retryHold tells the worker again, in the background, until it knows or w has ended. It needs
// h.hold.mu.
func (h *Host) retryHold(ctx context.Context, w *worker) {
	if h.hold.retrying {
		return
	}
	h.hold.retrying = true
	ctx = context.WithoutCancel(ctx)
	go func() {
		for retry := (backoff.Backoff{First: holdRetry, Max: holdPause}); ; {
			select {
			case <-w.exited: // the next attempt is the last one
			case <-time.After(retry.Next()):
			}
			if h.retriedHold(ctx) {
				return
			}
		}
	}()
}

// retriedHold makes one attempt of retryHold, and reports whether it was the last one.
func (h *Host) retriedHold(ctx context.Context) bool {
	h.hold.mu.Lock()
	defer h.hold.mu.Unlock()
	done := h.tellHold(ctx) == nil
	h.hold.retrying = !done
	return done
}

// hasObjects reports whether workerd runs Durable Objects.
func (w *worker) hasObjects() bool { return w.calls != nil && w.calls.objects != nil }
