package data

import (
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

// rows returns the rows of the level, and how many lines stand above them.
func (c *Screen) rows(s *state.State) ([]ui.Row, int) {
	if c.isText() {
		return nil, 0
	}
	content := c.content(s, &ui.Theme{})
	c.table.Columns = content.columns
	return content.rows, 1 + len(content.head)
}

// Click implements ui.Clicked.
func (c *Screen) Click(y int, s *state.State) {
	rows, above := c.rows(s)
	c.table.Click(y-above, rows)
}

// Wheel implements ui.Clicked.
func (c *Screen) Wheel(by int, s *state.State) {
	if c.isText() {
		c.top = max(c.top+by, 0)
		return
	}
	rows, _ := c.rows(s)
	c.table.Move(by, rows)
}

// Choose implements ui.Numbered.
func (c *Screen) Choose(n int, s *state.State) bool {
	rows, _ := c.rows(s)
	return c.table.Select(n, rows)
}
