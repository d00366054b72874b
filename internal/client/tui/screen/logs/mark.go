package logs

import (
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// markLevel is the level of an entry that is a mark of the person.
const markLevel = "mark"

// mark is a line below an entry of the log.
type mark struct {
	below string // cursor of the entry; "" for the beginning
	entry api.LogLine
}

// mark draws a line below the newest entry.
func (c *Screen) mark(s *state.State) {
	below := ""
	if list := s.LogLines(c.need); len(list) > 0 {
		below = list[len(list)-1].Cursor
	}
	c.marks = append(c.marks, mark{below, api.LogLine{Level: markLevel, Time: api.At(s.Now), Message: "mark " + s.Now.UTC().Format("15:04:05")}})
}

// withMarks returns entries with the marks between them.
func (c *Screen) withMarks(list []api.LogLine) []api.LogLine {
	if len(c.marks) == 0 {
		return list
	}
	out := make([]api.LogLine, 0, len(list)+len(c.marks))
	add := func(below string) {
		for _, m := range c.marks {
			if m.below == below {
				out = append(out, m.entry)
			}
		}
	}
	add("")
	for _, l := range list {
		if out = append(out, l); l.Cursor != "" {
			add(l.Cursor)
		}
	}
	return out
}

// matches reports whether an entry contains all words of a filter; a word that begins with "!"
// must not be contained.
func matches(l api.LogLine, words []string) bool {
	text := strings.ToLower(l.Level + " " + l.Message + " " + l.RequestID)
	return !slices.ContainsFunc(words, func(w string) bool {
		not, isNot := strings.CutPrefix(w, "!")
		return strings.Contains(text, not) == isNot && not != ""
	})
}

// drawMark draws a mark over the width of the page.
func drawMark(l api.LogLine, p ui.Page) string {
	text := "── " + l.Message + " "
	return p.Accent.Render(text + strings.Repeat("─", max(p.W-ui.Width(text), 0)))
}
