package cli

import (
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/lib/text"
)

// atHelp says what --at takes.
const atHelp = "with --parent: begin with the data of that moment, at the newest point at or before it: a time (RFC 3339, or 10:41:03 of the last 24 hours), or '10 minutes ago'; the server must keep history (SVC_HISTORY)"

// checkMoment refuses --at where it has no meaning.
func (o deployOptions) checkMoment() error {
	if o.at == "" {
		return nil
	}
	switch _, err := momentOf(o.at, time.Now()); {
	case err != nil:
		return err
	case o.release:
		return kit.Usagef("--release begins with the newest data of production, and --at names a moment of the past: use --parent and --at without --release")
	case o.parent == "" || o.parent == noParent:
		return kit.Usagef("--at needs --parent, the version whose past it is")
	}
	return nil
}

// momentOf reads a time of the past; "" is the zero time.
func momentOf(value string, now time.Time) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	if ago, ok := strings.CutSuffix(value, "ago"); ok {
		if d, err := text.Duration(shortUnits(ago)); err == nil {
			return now.Add(-d), nil
		}
	}
	if t, err := time.Parse(time.RFC3339, value); err == nil {
		return t, nil
	}
	for _, form := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.ParseInLocation(form, value, now.Location()); err == nil {
			return t, nil
		}
	}
	for _, form := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(form, value); err == nil {
			return lastTime(t, now), nil
		}
	}
	return time.Time{}, kit.Usagef("--at %q is no time: want 2026-01-31T10:41:03Z, '2026-01-31 10:41', 10:41:03, or '10 minutes ago'", value)
}

// shortUnits turns "10 minutes" into "10m".
func shortUnits(ago string) string {
	number, unit, ok := strings.Cut(strings.TrimSpace(ago), " ")
	if !ok {
		return number
	}
	unit = strings.TrimSuffix(strings.TrimSpace(unit), "s")
	short := map[string]string{"second": "s", "minute": "m", "hour": "h", "day": "d"}[unit]
	return number + short
}

// lastTime is when the clock showed a time of day last.
func lastTime(clock, now time.Time) time.Time {
	t := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), clock.Second(), clock.Nanosecond(), now.Location())
	if t.After(now) {
		t = t.AddDate(0, 0, -1)
	}
	return t
}
