package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
)

// shortID is how many characters of a request id people see.
const shortID = 8

// clock is the format of times.
const clock = "15:04:05.000"

// printLogs prints a page: each invocation with its lines below it.
func printLogs(k *kit.Kit, entries []api.LogLine) {
	over := map[string]bool{}
	lines := map[string][]api.LogLine{}
	for _, l := range entries {
		if l.Invocation != nil && l.RequestID != "" {
			over[l.RequestID] = true
		}
	}
	for _, l := range entries {
		if l.Invocation == nil && over[l.RequestID] {
			lines[l.RequestID] = append(lines[l.RequestID], l)
		}
	}
	for _, l := range entries {
		switch {
		case l.Invocation != nil:
			printInvocation(k, l)
			for _, below := range lines[l.RequestID] {
				printLogLine(k, below, true)
			}
			delete(lines, l.RequestID)
		case !over[l.RequestID]:
			printLogLine(k, l, false)
		}
	}
}

// printInvocation prints "07:09:54.650  GET /boom  500  3ms  79dd2d5a".
func printInvocation(k *kit.Kit, l api.LogLine) {
	i := l.Invocation
	what := []string{i.Method + " " + i.Path, fmt.Sprint(i.Status)}
	if i.Status == 0 {
		what = []string{strings.TrimSpace(i.Kind + " " + i.Detail), i.Outcome}
	}
	what = append(what, shortTime(i.DurationMs))
	if l.RequestID != "" {
		what = append(what, short(l.RequestID))
	}
	if i.Error != "" {
		what = append(what, i.Error)
	}
	k.Printf("%s  %s", l.Time.Local().Format(clock), kit.Clean(strings.Join(what, "  ")))
}

func shortTime(ms float64) string {
	if d := time.Duration(ms * float64(time.Millisecond)); d >= 10*time.Second {
		return d.Round(time.Second / 10).String()
	}
	if ms < 10 {
		return fmt.Sprintf("%.1fms", ms)
	}
	return fmt.Sprintf("%.0fms", ms)
}

func short(id string) string { return id[:min(len(id), shortID)] }

// printLogLine prints a line, below its invocation or by itself.
func printLogLine(k *kit.Kit, l api.LogLine, below bool) {
	lead := strings.Repeat(" ", len(clock))
	if !below {
		lead = l.Time.Local().Format(clock)
	}
	level := l.Level
	if l.RequestID != "" && !below {
		level = short(l.RequestID) + "  " + level
	}
	indent := "\n" + strings.Repeat(" ", len(clock)+9)
	k.Printf("%s  %-5s  %s", lead, kit.Clean(level), strings.ReplaceAll(kit.Clean(l.Message), "\n", indent))
}
