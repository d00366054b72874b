package gateway

import (
	"context"
	"log/slog"
	"sync"
)

// maxLater is the maximum number of log lines that wait.
const maxLater = 1024

// laterHandler logs in the background: its caller never waits for the log. While too many
// lines wait, further ones are dropped and counted.
type laterHandler struct {
	slog.Handler
	queue *laterQueue
}

// laterQueue holds the lines of a logger and of those derived from it.
type laterQueue struct {
	mu      sync.Mutex
	lines   []func()
	dropped int
	running bool
	log     *slog.Logger // that the lines are for
}

// newLaterLogger returns a logger for goroutines that must not block.
func newLaterLogger(l *slog.Logger) *slog.Logger {
	return slog.New(laterHandler{l.Handler(), &laterQueue{log: l}})
}

func (h laterHandler) Handle(ctx context.Context, r slog.Record) error { // the interface wants a value
	r = r.Clone()
	h.queue.add(func() { _ = h.Handler.Handle(ctx, r) })
	return nil
}

func (h laterHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return laterHandler{h.Handler.WithAttrs(attrs), h.queue}
}

func (h laterHandler) WithGroup(name string) slog.Handler {
	return laterHandler{h.Handler.WithGroup(name), h.queue}
}

func (q *laterQueue) add(line func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) == maxLater {
		q.dropped++
		return
	}
	q.lines = append(q.lines, line)
	if !q.running {
		q.running = true
		go q.run()
	}
}

// run logs until no line is left.
func (q *laterQueue) run() {
	for {
		q.mu.Lock()
		lines, dropped := q.lines, q.dropped
		q.lines, q.dropped = nil, 0
		q.running = len(lines) > 0
		q.mu.Unlock()
		if len(lines) == 0 {
			return
		}
		for _, line := range lines {
			line()
		}
		if dropped > 0 {
			q.log.Warn("log lines dropped: the log is too slow", "lines", dropped)
		}
	}
}
