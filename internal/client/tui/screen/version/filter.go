package version

import (
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

// filtered is the tab with a filter that is shown; nil for another tab.
func (c *Screen) filtered() ui.Filtered {
	switch {
	case c.at("logs"):
		return c.logs
	case c.at("env"):
		return &c.env
	case c.at("data"):
		return c.data
	}
	return nil
}

// Filter implements ui.Filtered.
func (c *Screen) Filter() string {
	if f := c.filtered(); f != nil {
		return f.Filter()
	}
	return ""
}

// SetFilter implements ui.Filtered.
func (c *Screen) SetFilter(text string) {
	if f := c.filtered(); f != nil {
		f.SetFilter(text)
	}
}

// Tails implements ui.Tailing.
func (c *Screen) Tails() bool { return c.at("logs") }

// Tail implements ui.Tailing.
func (c *Screen) Tail(s *state.State, p ui.Page, after int) ([]string, int) {
	return c.logs.Tail(s, p, after)
}

// Choose implements ui.Numbered.
func (c *Screen) Choose(n int, s *state.State) bool {
	if c.at("data") {
		return c.data.Choose(n, s)
	}
	return c.at("env") && c.env.Select(n, c.env.rows(s, &ui.Theme{}))
}
