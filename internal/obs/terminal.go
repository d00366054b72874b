package obs

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"

	"github.com/svcctl/svcctl/internal/lib/text"
)

// The colors of the terminal.
const (
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	green  = "\x1b[32m"
	reset  = "\x1b[0m"
)

// terminalHandler writes "15:04:05 INFO  message  key=value". It shares one lock with
// the handlers derived from it.
type terminalHandler struct {
	mu     *sync.Mutex
	w      io.Writer
	level  slog.Leveler
	color  bool
	prefix string // of groups: "a.b."
	attrs  string // formatted attributes
}

func newTerminalHandler(w io.Writer, level slog.Leveler, color bool) *terminalHandler {
	return &terminalHandler{mu: &sync.Mutex{}, w: w, level: level, color: color}
}

// Enabled implements slog.Handler.
func (h *terminalHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level.Level() }

// WithGroup implements slog.Handler.
func (h *terminalHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	c := *h
	c.prefix += name + "."
	return &c
}

// WithAttrs implements slog.Handler.
func (h *terminalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	var b strings.Builder
	for _, a := range attrs {
		h.attr(&b, h.prefix, a)
	}
	c.attrs += b.String()
	return &c
}

// Handle implements slog.Handler.
func (h *terminalHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	if !r.Time.IsZero() {
		b.WriteString(h.paint(dim, r.Time.Format("15:04:05")) + " ")
	}
	b.WriteString(h.paint(levelColor(r.Level), pad(r.Level.String())) + " " + h.line(r) + "\n")
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := io.WriteString(h.w, b.String())
	return err
}

// line is the message of a record with all attributes.
func (h *terminalHandler) line(r slog.Record) string {
	var b strings.Builder
	b.WriteString(visible(r.Message) + h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		h.attr(&b, h.prefix, a)
		return true
	})
	return b.String()
}

// attr writes " key=value", for a group each of its members.
func (h *terminalHandler) attr(b *strings.Builder, prefix string, a slog.Attr) {
	v := a.Value.Resolve()
	switch {
	case a.Equal(slog.Attr{}):
		return
	case v.Kind() == slog.KindGroup:
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, member := range v.Group() {
			h.attr(b, prefix, member)
		}
		return
	}
	value := visible(v.String())
	if value == "" || strings.ContainsAny(value, " =\"") {
		value = strconv.Quote(value)
	}
	b.WriteString(" " + h.paint(dim, prefix+a.Key+"=") + value)
}

func (h *terminalHandler) paint(color, s string) string {
	if !h.color {
		return s
	}
	return color + s + reset
}

func levelColor(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return red
	case l >= slog.LevelWarn:
		return yellow
	case l >= slog.LevelInfo:
		return green
	}
	return dim
}

// pad pads a level to the length of ERROR.
func pad(level string) string { return level + strings.Repeat(" ", max(0, 5-len(level))) }

// visible replaces the hidden characters of a text, which may come from a worker, and
// indents its lines.
func visible(s string) string {
	s = strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
	return strings.Map(func(c rune) rune {
		if c != '\n' && text.IsHidden(c) {
			return '\uFFFD'
		}
		return c
	}, s)
}
