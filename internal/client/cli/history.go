package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/pkg/api"
)

// historyText says how far back a project can go, and that deleted data is kept as long.
func historyText(h api.ProjectHistory) string {
	var parts []string
	for _, tier := range []struct {
		what    string
		seconds int64
	}{{"all points", h.Seconds}, {"those of each minute", h.Minutes}, {"those of each hour", h.Hours}} {
		if tier.seconds > 0 {
			parts = append(parts, fmt.Sprintf("%s for %s", tier.what, periodText(time.Duration(tier.seconds)*time.Second)))
		}
	}
	said := strings.Join(parts, ", ")
	if h.MaxBytes > 0 {
		said += fmt.Sprintf(", at most %s a version", text.Bytes(h.MaxBytes))
	}
	longest := time.Duration(max(h.Seconds, h.Minutes, h.Hours)) * time.Second
	return fmt.Sprintf("%s; deleted data stays %s, and the grace of garbage collection", said, periodText(longest))
}

// periodText is a duration in the form of settings, such as 7d or 90m.
func periodText(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}
