package obs

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	recentLines = 1000    // that a Recent keeps
	recentText  = 4 << 10 // bytes of one of them
)

// Recent keeps the newest lines of a log in memory, at most 1,000 of at most 4 KiB, for the
// API. It implements httpapi.Logs, for a log without versions. It is safe for concurrent use.
type Recent struct {
	process string // begins the cursors of this process
	closed  chan struct{}
	once    sync.Once

	mu      sync.Mutex
	secrets *svc.Redactor
	lines   []svc.LogLine // oldest first
	next    uint64        // number of the line that comes; the first one is 1
	changed chan struct{} // closed by the next line
}

// NewRecent returns a Recent without lines. It hides the values of secrets, by their names,
// and what looks like a credential.
func NewRecent(secrets map[string]string) *Recent {
	return &Recent{
		process: fmt.Sprintf("%x", time.Now().UnixNano()), closed: make(chan struct{}), next: 1, changed: make(chan struct{}),
		secrets: svc.NewRedactor(secrets),
	}
}

// Hide replaces the secrets: lines that come from now on are without the new ones.
func (r *Recent) Hide(secrets map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = svc.NewRedactor(secrets)
}

// Stop ends all followers.
func (r *Recent) Stop() { r.once.Do(func() { close(r.closed) }) }

// Logger returns a logger that writes as l does, and into r what l writes.
func (r *Recent) Logger(l *slog.Logger) *slog.Logger {
	return slog.New(recentHandler{l.Handler(), newTerminalHandler(nil, nil, false), r})
}

// add appends a line. The text is redacted before it is cut: a part of a secret is not found.
func (r *Recent) add(at time.Time, level, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text = svc.HideCredentials(r.secrets.Redact(text))
	if len(text) > recentText {
		text = strings.ToValidUTF8(text[:recentText], "") + "…"
	}
	if len(r.lines) == recentLines {
		copy(r.lines, r.lines[1:])
		r.lines = r.lines[:recentLines-1]
	}
	r.lines = append(r.lines, svc.LogLine{Time: at, Level: level, Source: svc.LogServer, Message: text})
	r.next++
	close(r.changed)
	r.changed = make(chan struct{})
}

// recentHandler passes records on, and adds those that are wanted there to a Recent.
type recentHandler struct {
	slog.Handler
	text   *terminalHandler // for its attributes
	recent *Recent
}

// WithGroup implements slog.Handler.
func (h recentHandler) WithGroup(name string) slog.Handler {
	text, _ := h.text.WithGroup(name).(*terminalHandler)
	return recentHandler{h.Handler.WithGroup(name), text, h.recent}
}

// WithAttrs implements slog.Handler.
func (h recentHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	text, _ := h.text.WithAttrs(attrs).(*terminalHandler)
	return recentHandler{h.Handler.WithAttrs(attrs), text, h.recent}
}

// Handle implements slog.Handler.
func (h recentHandler) Handle(ctx context.Context, r slog.Record) error {
	h.recent.add(r.Time, levelName(r.Level), h.text.line(r))
	return h.Handler.Handle(ctx, r)
}

// levelName is a level as the logs of versions name it.
func levelName(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return "error"
	case l >= slog.LevelWarn:
		return "warn"
	case l >= slog.LevelInfo:
		return "info"
	}
	return "debug"
}
