package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/svcctl/svcctl/internal/lib/text"
)

// Clean is text.Line.
func Clean(s string) string { return text.Line(s) }

// Fit cuts or pads a text to w columns.
func Fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	s = ansi.Truncate(s, w, "…")
	return s + strings.Repeat(" ", max(0, w-ansi.StringWidth(s)))
}

// Width returns the number of columns of a text.
func Width(s string) int { return ansi.StringWidth(s) }

// Lines makes exactly h lines of at most w columns.
func Lines(lines []string, w, h int) string {
	out := make([]string, h)
	for i := range out {
		if i < len(lines) {
			out[i] = ansi.Truncate(lines[i], w, "…")
		}
	}
	return strings.Join(out, "\n")
}

// Wrap breaks a text into lines of at most w columns.
func Wrap(s string, w int) []string { return strings.Split(ansi.Wrap(s, max(w, 1), ""), "\n") }

// Age returns the time since t in its two largest units: "3m12s", "5h", "12d"; "-" for
// no time.
func Age(now, t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	d := max(now.Sub(t), 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 10*time.Minute:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours())/24)
}

// Millis returns a duration: "0.4ms", "12ms", "3.4s", "2m05s".
func Millis(d time.Duration) string {
	switch {
	case d > 0 && d < time.Millisecond:
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
}

// InMillis is Millis for a number of milliseconds.
func InMillis(ms float64) string { return Millis(time.Duration(ms * float64(time.Millisecond))) }

// Bytes returns a size: "512 B", "2.0 KiB".
func Bytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n), 0
	for v >= 1024 && unit < 4 {
		v, unit = v/1024, unit+1
	}
	return fmt.Sprintf("%.1f %ciB", v, " KMGT"[unit])
}

// Spark draws values as a line of bars, the last w of them.
func Spark(values []float64, w int) string {
	bars := []rune(" ▁▂▃▄▅▆▇█")
	values = values[max(0, len(values)-w):]
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	out := []rune(strings.Repeat(" ", max(0, w-len(values))))
	for _, v := range values {
		i := 0
		if top > 0 && v > 0 {
			i = max(1, int(v/top*float64(len(bars)-1)+0.5))
		}
		out = append(out, bars[i])
	}
	return string(out)
}

// Empty returns what a table without rows says: that it loads, what went wrong, or
// nothing.
func Empty(loaded bool, err error, nothing string) string {
	switch {
	case err != nil && !loaded:
		return "error: " + Clean(err.Error())
	case !loaded:
		return "loading …"
	}
	return nothing
}

// Above draws lines above the rest of a page.
func Above(head []string, p Page, rest func(Page) string) string {
	below := p
	below.H = max(p.H-len(head), 1)
	return Lines(append(head, strings.Split(rest(below), "\n")...), p.W, p.H)
}
