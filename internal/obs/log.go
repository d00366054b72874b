package obs

import (
	"io"
	"log/slog"

	"github.com/svcctl/svcctl/internal/lib/text"
)

// LogOptions are the options of a logger.
type LogOptions struct {
	Terminal bool // short lines for people; else JSON, one object per line
	Color    bool // with Terminal
	Level    slog.Leveler
}

// NewLogger returns a logger that writes each line to w with one Write. The caller owns
// w.
func NewLogger(w io.Writer, o LogOptions) *slog.Logger {
	level := o.Level
	if level == nil {
		level = slog.LevelInfo
	}
	if o.Terminal {
		return slog.New(newTerminalHandler(w, level, o.Color))
	}
	return slog.New(slog.NewJSONHandler(text.JSON(w), &slog.HandlerOptions{Level: level, ReplaceAttr: utcMillis}))
}

// utcMillis formats times as in the API [D10]. A duration is a number of milliseconds with
// its unit in the name, as in the access log and the API.
func utcMillis(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime {
		a.Value = slog.StringValue(a.Value.Time().UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key+"_ms", float64(a.Value.Duration().Microseconds())/1000)
	}
	return a
}
