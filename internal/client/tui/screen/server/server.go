package server

import (
	"fmt"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// Screen is the screen.
type Screen struct {
	ui.Table

	above int // lines above the table in the last view
}

// New makes the screen.
func New(ui.Place) *Screen {
	return &Screen{Table: ui.Table{Columns: []ui.Column{
		{Name: "SETTING", Width: 30}, {Name: "FROM", Width: 11}, {Name: "VALUE", Width: 30, Flex: true},
	}}}
}

func need() state.Need { return state.Need{Kind: state.Server} }

// Needs implements ui.Screen.
func (*Screen) Needs() []state.Need { return []state.Need{need()} }

func (*Screen) rows(s *state.State, t *ui.Theme) []ui.Row {
	info, _, _ := state.Get[api.Server](s, need())
	rows := make([]ui.Row, len(info.Settings))
	for i, o := range info.Settings {
		style := &t.Dim
		if o.Source != api.SettingSourceDefault {
			style = &t.Bold
		}
		rows[i] = ui.Row{ID: o.Name, Cells: []ui.Cell{ui.Text(o.Name, style), ui.Text(string(o.Source), style), ui.Text(o.Value, style)}}
	}
	return rows
}

// View implements ui.Screen.
func (c *Screen) View(s *state.State, p ui.Page) string {
	info, ok, err := state.Get[api.Server](s, need())
	head := []string{"", "", "", ""}
	if ok {
		head = []string{
			" " + p.Bold.Render("svcctl "+ui.Clean(info.Version)) + p.Dim.Render("  up "+ui.Age(s.Now, info.StartedAt.Time)+"  API "+ui.Clean(info.APIURL)),
			p.Dim.Render(" gateway " + ui.Clean(info.GatewayURL) + "  hosts " + ui.Clean(info.PreviewURLTemplate)),
			p.Dim.Render(fmt.Sprintf(" deploy queue at most %d  bundle at most %s", info.QueueMax, ui.Bytes(info.MaxUploadBytes))), "",
		}
	}
	c.above = len(head)
	return ui.Above(head, p, func(rest ui.Page) string {
		return c.Table.View(c.rows(s, p.Theme), rest, ui.Empty(ok, err, "no settings"))
	})
}

// Update implements ui.Screen.
func (c *Screen) Update(k tea.KeyMsg, s *state.State) ui.Intent {
	rows := c.rows(s, &ui.Theme{})
	if row, ok := c.Selected(rows); ok && k.String() == "y" {
		return ui.Copy{Text: row.Cells[0].Text + "=" + row.Cells[2].Text}
	}
	c.Table.Update(k, rows)
	return nil
}

// Keys implements ui.Screen.
func (*Screen) Keys() []key.Binding { return []key.Binding{ui.Key("copy; the setting", "y")} }

// Click implements ui.Clicked.
func (c *Screen) Click(y int, s *state.State) { c.Table.Click(y-c.above, c.rows(s, &ui.Theme{})) }

// Wheel implements ui.Clicked.
func (c *Screen) Wheel(by int, s *state.State) { c.Move(by, c.rows(s, &ui.Theme{})) }

// Choose implements ui.Numbered.
func (c *Screen) Choose(n int, s *state.State) bool { return c.Select(n, c.rows(s, &ui.Theme{})) }
