package logs

import (
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

// Tails implements ui.Tailing.
func (*Screen) Tails() bool { return true }

// Tail implements ui.Tailing.
func (c *Screen) Tail(s *state.State, p ui.Page, after int) (lines []string, all int) {
	if c.up > 0 { // paused
		return nil, after
	}
	list, all := s.LogLines(c.need), s.LogCount(c.need)
	wanted := c.wanted()
	for _, l := range list[min(max(len(list)-all+after, 0), len(list)):] {
		if wanted(l) {
			lines = append(lines, c.entry(l, p)...)
		}
	}
	return lines, all
}
