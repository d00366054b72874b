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
	"github.com/svcctl/svcctl/internal/lib/backoff"
)

const (
	waitInterval = 20 * time.Millisecond  // between two questions
	waitAnswer   = 500 * time.Millisecond // at least, for one answer
)

// Seal implements control.Handler.
func (h *Host) Seal(ctx context.Context, s control.Seal) (control.Sealing, error) {
	v := h.open.Load()
	if v == nil {
		return control.Sealing{}, errNotOpen()
	}
	until := time.Now().Add(s.Wait)
	done, err := v.resources.Seal(ctx, s)
	if err != nil || s.State != control.SealPaused {
		return done, err
	}
	if left := h.awaitWork(ctx, until); left != "" && !s.Late {
		done.Running = append(done.Running, left)
	}
	return done, nil
}

// awaitWork waits until no work is left that was given to waitUntil, as long as until. It returns
// how much is left, as text; "" for none. An answer counts all work of responses that were sent
// before the question: the worker gives it to waitUntil before, or while other work runs.
func (h *Host) awaitWork(ctx context.Context, until time.Time) string {
	w := h.running()
	if w == nil || !w.serving.Load() {
		return ""
	}
	client := waitingClient(filepath.Join(w.dir, waitSocket))
	defer client.CloseIdleConnections()
	for {
		n, err := askWaiting(ctx, client, max(time.Until(until), waitAnswer))
		switch {
		case err != nil && w.isGone(): // with its work
			return ""
		case err != nil:
			h.opts.Logger.WarnContext(ctx, "the worker does not say what is left of waitUntil", "error", err)
			return "waitUntil (unknown)"
		case n == 0:
			return ""
		case time.Until(until) < waitInterval || backoff.Sleep(ctx, waitInterval) != nil:
			return fmt.Sprintf("waitUntil (%d)", n)
		}
	}
}

// waitingClient sends all requests to socket.
func waitingClient(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
}

// askWaiting asks the worker how much work is left.
func askWaiting(ctx context.Context, client *http.Client, limit time.Duration) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://waiting/", http.NoBody)
	if err != nil {
		return 0, fmt.Errorf("asking for work of waitUntil: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, fmt.Errorf("asking for work of waitUntil: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 100))
	n, invalid := strconv.Atoi(string(text))
	if err = errors.Join(err, invalid); err != nil {
		return 0, fmt.Errorf("asking for work of waitUntil: status %d: %w", resp.StatusCode, err)
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
