package server

import (
	"fmt"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/screen/logs"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// Screen is the screen.
type Screen struct {
	tab    int
	tables []ui.Table // of the tabs, in their order
	log    *logs.Screen
	above  int // lines above the table in the last view
}

// New makes the screen; Arg is the name of a tab.
func New(p ui.Place) *Screen {
	c := &Screen{log: logs.New(ui.Place{})}
	for i, t := range tabs() {
		c.tables = append(c.tables, ui.Table{Columns: t.columns})
		if t.name == p.Arg {
			c.tab = i
		}
	}
	return c
}

func need() state.Need { return state.Need{Kind: state.Server} }

func (c *Screen) at() tab { return tabs()[c.tab] }

func (c *Screen) table() *ui.Table { return &c.tables[c.tab] }

// Needs implements ui.Screen.
func (c *Screen) Needs() []state.Need {
	needs := []state.Need{need()}
	switch t := c.at(); {
	case t.rows == nil:
		needs = append(needs, c.log.Needs()...)
	case t.need != need():
		needs = append(needs, t.need)
	}
	return needs
}

// View implements ui.Screen.
func (c *Screen) View(s *state.State, p ui.Page) string {
	t := c.at()
	head := summary(s, p)
	if t.above != nil {
		head = append(head, t.above(s, p)...)
	}
	head = append(head, "", c.tabLine(p))
	c.above = len(head)
	return ui.Above(head, p, func(rest ui.Page) string {
		if t.rows == nil {
			return c.log.View(s, rest)
		}
		_, ok, err := state.Get[any](s, t.need)
		return c.table().View(t.rows(s, p.Theme), rest, ui.Empty(ok, err, t.nothing))
	})
}

// summary says what the server is.
func summary(s *state.State, p ui.Page) []string {
	info, ok, err := state.Get[api.Server](s, need())
	if !ok {
		return []string{p.Dim.Render(" " + ui.Empty(ok, err, "")), "", "", ""}
	}
	return []string{
		" " + p.Bold.Render("svcctl "+ui.Clean(info.Version)) + p.Dim.Render("  up "+ui.Age(s.Now, info.StartedAt.Time)+"  API "+ui.Clean(info.APIURL)),
		p.Dim.Render(" gateway " + ui.Clean(info.GatewayURL) + "  hosts " + ui.Clean(info.PreviewURLTemplate)),
		p.Dim.Render(" object store " + ui.Clean(info.State.ObjectStore) + "  " + ui.Clean(info.State.WorkerdVersion)),
		p.Dim.Render(fmt.Sprintf(" deploy queue at most %d  bundle at most %s", info.QueueMax, ui.Bytes(info.MaxUploadBytes))),
	}
}

// Update implements ui.Screen.
func (c *Screen) Update(k tea.KeyMsg, s *state.State) ui.Intent {
	t := c.at()
	switch n := len(tabs()); k.String() {
	case "]", "tab", "right":
		c.tab = (c.tab + 1) % n
		return nil
	case "[", "shift+tab", "left":
		c.tab = (c.tab + n - 1) % n
		return nil
	}
	if t.rows == nil {
		return c.log.Update(k, s)
	}
	rows := t.rows(s, &ui.Theme{})
	row, ok := c.table().Selected(rows)
	switch {
	case ok && k.String() == "y":
		return ui.Copy{Text: t.copied(row)}
	case ok && k.String() == "enter" && t.open != nil:
		return t.open(s, row.ID)
	}
	c.table().Update(k, rows)
	return nil
}

// Keys implements ui.Screen.
func (c *Screen) Keys() []key.Binding {
	keys := []key.Binding{ui.Key("next tab; [ the one before", "]")}
	t := c.at()
	if t.rows == nil {
		return append(keys, c.log.Keys()...)
	}
	if t.open != nil {
		keys = append(keys, ui.Key("details; of the version", "enter"))
	}
	return append(keys, ui.Key("copy; "+t.copies, "y"))
}

// Filter implements ui.Filtered.
func (c *Screen) Filter() string {
	if c.at().rows == nil {
		return c.log.Filter()
	}
	return c.table().Filter()
}

// SetFilter implements ui.Filtered.
func (c *Screen) SetFilter(text string) {
	if c.at().rows == nil {
		c.log.SetFilter(text)
		return
	}
	c.table().SetFilter(text)
}

// Tails implements ui.Tailing.
func (c *Screen) Tails() bool { return c.at().rows == nil }

// Tail implements ui.Tailing.
func (c *Screen) Tail(s *state.State, p ui.Page, after int) ([]string, int) {
	return c.log.Tail(s, p, after)
}

// Click implements ui.Clicked.
func (c *Screen) Click(y int, s *state.State) {
	if t := c.at(); t.rows != nil {
		c.table().Click(y-c.above, t.rows(s, &ui.Theme{}))
	}
}

// Wheel implements ui.Clicked.
func (c *Screen) Wheel(by int, s *state.State) {
	t := c.at()
	if t.rows == nil {
		c.log.Wheel(by, s)
		return
	}
	c.table().Move(by, t.rows(s, &ui.Theme{}))
}

// Choose implements ui.Numbered.
func (c *Screen) Choose(n int, s *state.State) bool {
	t := c.at()
	return t.rows != nil && c.table().Select(n, t.rows(s, &ui.Theme{}))
}
