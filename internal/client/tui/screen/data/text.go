package data

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

// isText reports whether the level is one text in place of a table.
func (c *Screen) isText() bool { return c.kind == value || c.kind == message }

// shown returns the text of the level.
func (c *Screen) shown(s *state.State) (text string, ok bool, err error) {
	if c.kind == value {
		return state.Get[string](s, c.need())
	}
	m, ok, err := c.message(s)
	return string(m.Body), ok, err
}

// text draws a value, or the body of a message.
func (c *Screen) text(s *state.State, p ui.Page) string {
	v, ok, err := c.shown(s)
	if !ok {
		return p.Dim.Render("  " + ui.Empty(ok, err, ""))
	}
	var lines []string
	for l := range strings.SplitSeq(v, "\n") {
		lines = append(lines, ui.Wrap(" "+ui.Clean(l), p.W)...)
	}
	c.top = max(min(c.top, len(lines)-p.H), 0)
	return ui.Lines(lines[c.top:], p.W, p.H)
}

func (c *Screen) scroll(k tea.KeyMsg, s *state.State) ui.Intent {
	switch k.String() {
	case "down", "j":
		c.top++
	case "up", "k":
		c.top = max(c.top-1, 0)
	case "y":
		v, _, _ := c.shown(s)
		return ui.Copy{Text: v}
	case "D":
		if c.kind == value {
			return c.download(c.arg[1])
		}
	default:
		return c.change(k.String(), s, c.arg[1])
	}
	return nil
}
