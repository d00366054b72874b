package version

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

// dataKey takes a key that moves in the list of the data, or opens a part of it; false means
// that the tab has no use for it. The content of a part has a screen of its own.
func (c *Screen) dataKey(k tea.KeyMsg, s *state.State) (ui.Intent, bool) {
	switch k.String() {
	case "enter", "Q", "up", "k", "down", "j", "home", "g", "end", "G", "pgup", "b", "pgdown", "f", "s", "S":
		return c.data.Update(k, s), true
	}
	return nil, false
}
