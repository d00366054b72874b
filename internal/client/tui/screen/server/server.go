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
	ui.Table // of the tab

	hidden ui.Table // of the other tab
	routes bool     // the tab of the routes is shown, and not that of the settings
	above  int      // lines above the table in the last view
}

// New makes the screen.
func New(ui.Place) *Screen {
	return &Screen{
		Table: ui.Table{Columns: []ui.Column{
			{Name: "SETTING", Width: 30}, {Name: "FROM", Width: 11}, {Name: "VALUE", Width: 30, Flex: true},
		}},
		hidden: ui.Table{Columns: routeColumns()},
	}
}

func need() state.Need { return state.Need{Kind: state.Server} }

// Needs implements ui.Screen.
func (c *Screen) Needs() []state.Need {
	if c.routes {
		return []state.Need{need(), routesNeed()}
	}
	return []state.Need{need()}
}

func (c *Screen) rows(s *state.State, t *ui.Theme) []ui.Row {
	if c.routes {
		return routeRows(s, t)
	}
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
	head := []string{"", "", "", "", c.tabs(p)}
	if ok {
		head = []string{
			" " + p.Bold.Render("svcctl "+ui.Clean(info.Version)) + p.Dim.Render("  up "+ui.Age(s.Now, info.StartedAt.Time)+"  API "+ui.Clean(info.APIURL)),
			p.Dim.Render(" gateway " + ui.Clean(info.GatewayURL) + "  hosts " + ui.Clean(info.PreviewURLTemplate)),
			p.Dim.Render(fmt.Sprintf(" deploy queue at most %d  bundle at most %s", info.QueueMax, ui.Bytes(info.MaxUploadBytes))), "", c.tabs(p),
		}
	}
	nothing := "no settings"
	if c.routes {
		_, ok, err = state.Get[[]api.Route](s, routesNeed())
		nothing = "no version serves"
	}
	c.above = len(head)
	return ui.Above(head, p, func(rest ui.Page) string {
		return c.Table.View(c.rows(s, p.Theme), rest, ui.Empty(ok, err, nothing))
	})
}

// Update implements ui.Screen.
func (c *Screen) Update(k tea.KeyMsg, s *state.State) ui.Intent {
	if k.String() == "]" || k.String() == "[" {
		c.Table, c.hidden, c.routes = c.hidden, c.Table, !c.routes
		return nil
	}
	rows := c.rows(s, &ui.Theme{})
	row, ok := c.Selected(rows)
	switch {
	case ok && k.String() == "y" && c.routes:
		return ui.Copy{Text: row.ID}
	case ok && k.String() == "y":
		return ui.Copy{Text: row.Cells[0].Text + "=" + row.Cells[2].Text}
	case ok && k.String() == "enter" && c.routes:
		return opened(s, row.ID)
	}
	c.Table.Update(k, rows)
	return nil
}

// Keys implements ui.Screen.
func (c *Screen) Keys() []key.Binding {
	if c.routes {
		return []key.Binding{ui.Key("details; of the version", "enter"), ui.Key("settings", "]"), ui.Key("copy; the host name", "y")}
	}
	return []key.Binding{ui.Key("routes; the host names of the gateway", "]"), ui.Key("copy; the setting", "y")}
}

// Click implements ui.Clicked.
func (c *Screen) Click(y int, s *state.State) { c.Table.Click(y-c.above, c.rows(s, &ui.Theme{})) }

// Wheel implements ui.Clicked.
func (c *Screen) Wheel(by int, s *state.State) { c.Move(by, c.rows(s, &ui.Theme{})) }

// Choose implements ui.Numbered.
func (c *Screen) Choose(n int, s *state.State) bool { return c.Select(n, c.rows(s, &ui.Theme{})) }
