package obs

import (
	"io"
	"log/slog"
	"time"
)

// LogOptions say how a log is written.
type LogOptions struct {
	Terminal bool // for eyes: short lines; else JSON, one object per line
	Color    bool // with Terminal
	Level    slog.Leveler
}

// NewLogger makes a logger that writes to w, which it does not close. Lines are
// written whole, one Write each.
func NewLogger(w io.Writer, o LogOptions) *slog.Logger {
	level := o.Level
	if level == nil {
		level = slog.LevelInfo
	}
	if o.Terminal {
		return slog.New(newTerminalHandler(w, level, o.Color))
	}
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: utcMillis}))
}

// utcMillis writes the time of a record as the API writes times [D10].
func utcMillis(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime {
		a.Value = slog.StringValue(a.Value.Time().UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().Round(time.Microsecond).String())
	}
	return a
}
