package workerhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/host/entry"
	"github.com/svcctl/svcctl/internal/lib/backoff"
)

const (
	waitInterval = 20 * time.Millisecond  // between two questions
	waitAnswer   = 500 * time.Millisecond // at least, for one answer

	// readOnlyDrain is the time in which alarms that run may end before their writes fail.
	readOnlyDrain = 2 * time.Second
)

// Seal implements control.Handler. While events are paused, no alarm begins; those that run have the
// time of other events.
func (h *Host) Seal(ctx context.Context, s control.Seal) (control.Sealing, error) {
	v := h.open.Load()
	if v == nil {
		return control.Sealing{}, errNotOpen()
	}
	switch s.State {
	case control.SealPaused:
		return h.pause(ctx, v, s)
	case control.SealUndone:
		done, err := v.resources.Seal(ctx, s) // it lets a stopped workerd continue
		return done, errors.Join(err, h.holdAlarms(ctx, holdPaused, false))
	case control.SealAhead, control.SealSealed, control.SealReleased:
	}
	return v.resources.Seal(ctx, s)
}

// pause is Seal with SealPaused.
func (h *Host) pause(ctx context.Context, v *version, s control.Seal) (control.Sealing, error) {
	drained, until := time.Now().Add(s.Drain), time.Now().Add(s.Wait)
	if err := h.holdAlarms(ctx, holdPaused, true); err != nil {
		return control.Sealing{}, err
	}
	done, err := v.resources.Seal(ctx, s)
	if err != nil {
		return done, err
	}
	if left := h.awaitAlarms(ctx, drained); left != "" && !s.Interrupt { // those that are interrupted run in the new version
		done.Running = append(done.Running, left)
	}
	if left := h.awaitWork(ctx, until); left != "" && !s.Late {
		done.Running = append(done.Running, left)
	}
	return done, nil
}

// awaitAlarms waits until no alarm of a Durable Object runs, as awaitWork does for work.
func (h *Host) awaitAlarms(ctx context.Context, until time.Time) string {
	if w := h.running(); w == nil || !w.hasObjects() {
		return ""
	}
	return h.awaitNone(ctx, entry.PathAlarms, "alarms", until)
}

// awaitWork waits until no work is left that was given to waitUntil, as long as until. It returns
// how much is left, as text; "" for none. An answer counts all work of responses that were sent
// before the question: the worker gives it to waitUntil before, or while other work runs.
func (h *Host) awaitWork(ctx context.Context, until time.Time) string {
	return h.awaitNone(ctx, entry.PathWorks, "waitUntil", until)
}

// awaitNone waits until the worker counts none for the path. It returns the count and what is counted.
func (h *Host) awaitNone(ctx context.Context, path, what string, until time.Time) string {
	w := h.running()
	if w == nil || !w.serving.Load() {
		return ""
	}
	client := waitingClient(filepath.Join(w.dir, waitSocket))
	defer client.CloseIdleConnections()
	for {
		n, err := askWaiting(ctx, client, http.MethodGet, path, max(time.Until(until), waitAnswer))
		switch {
		case err != nil && w.isGone(): // with its work
			return ""
		case err != nil:
			h.opts.Logger.WarnContext(ctx, "the worker does not say what is left", "of", what, "error", err)
			return what + " (unknown)"
		case n == 0:
			return ""
		case time.Until(until) < waitInterval || backoff.Sleep(ctx, waitInterval) != nil:
			return fmt.Sprintf("%s (%d)", what, n)
		}
	}
}

// waitingClient sends all requests to socket.
func waitingClient(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
}

// askWaiting sends the worker's entrypoint entry.Waiting a request, and returns the number in the answer.
func askWaiting(ctx context.Context, client *http.Client, method, path string, limit time.Duration) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://waiting"+path, http.NoBody)
	if err != nil {
		return 0, fmt.Errorf("asking the worker %s: %w", path, err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, fmt.Errorf("asking the worker %s: %w", path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 100))
	n, invalid := strconv.Atoi(string(text))
	if err = errors.Join(err, invalid); err != nil {
		return 0, fmt.Errorf("asking the worker %s: status %d: %w", path, resp.StatusCode, err)
	}
	return n, nil
}

// isGone reports whether the process has ended.
func (w *worker) isGone() bool {
	select {
	case <-w.exited:
		return true
	default:
		return false
	}
}
