package version

import (
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

// Click implements ui.Clicked.
func (c *Screen) Click(y int, s *state.State) {
	switch {
	case c.at("env"):
		c.env.Click(y-c.above-1, c.env.rows(s, &ui.Theme{}))
	case c.at("data"):
		c.data.Click(y-c.above, s)
	}
}

// Wheel implements ui.Clicked.
func (c *Screen) Wheel(by int, s *state.State) {
	switch {
	case c.at("logs"):
		c.logs.Wheel(by, s)
	case c.at("env"):
		c.env.Move(by, c.env.rows(s, &ui.Theme{}))
	case c.at("data"):
		c.data.Wheel(by, s)
	default:
		c.top = max(c.top+by, 0)
	}
}
