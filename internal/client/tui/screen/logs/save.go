package logs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// save asks for the name of a file for the entries that are shown.
func (c *Screen) save(s *state.State) ui.Intent {
	list := c.shown(s)
	name := cmp.Or(strings.Trim(c.need.Project+"-"+c.need.Version, "-"), "server") + "-" + s.Now.UTC().Format("20060102-150405") + ".log"
	return ui.Input{Title: "Save " + entries(len(list)-len(c.marks)), Label: "File that does not exist yet", Text: name, Then: func(path string) ui.Intent {
		if path == "" {
			return ui.Note{Text: "nothing was saved"}
		}
		return ui.Save{Path: path, Text: written(list)}
	}}
}

// entries is a number of them.
func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// written returns entries as text: a line each, and further lines of an entry indented.
func written(list []api.LogLine) string {
	var b strings.Builder
	for _, l := range list {
		fmt.Fprintf(&b, "%s %-5s %s", l.Time.UTC().Format(time.RFC3339Nano), l.Level, l.RequestID)
		for i, part := range strings.Split(l.Message, "\n") {
			if i > 0 {
				b.WriteString("\n   ")
			}
			b.WriteString(" " + ui.Clean(part))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// unfolded returns a message that is JSON with a line for each of its fields, and others
// unchanged.
func unfolded(message string) string {
	var out bytes.Buffer
	if text := strings.TrimSpace(message); !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") || json.Indent(&out, []byte(text), "", "  ") != nil {
		return message
	}
	return out.String()
}
