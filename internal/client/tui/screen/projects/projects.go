package projects

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/screen/ask"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// Screen is the screen.
type Screen struct {
	ui.Table
}

// New makes the screen.
func New(ui.Place) *Screen {
	return &Screen{ui.Table{Columns: []ui.Column{
		{Name: "PROJECT", Width: 16},
		{Name: "PRODUCTION", Width: 14},
		{Name: "SINCE", Width: 6, Right: true, Drop: 1},
		{Name: "REQ/S", Width: 6, Right: true},
		{Name: "5XX", Width: 6, Right: true},
		{Name: "P95", Width: 7, Right: true, Drop: 2},
		{Name: "MEMORY", Width: 10, Right: true, Drop: 3},
		{Name: "VERSIONS", Width: 12, Flex: true},
		{Name: "LAST DEPLOY", Width: 18, Flex: true},
		{Name: "URL", Width: 32, Drop: 4},
		{Name: "REPOSITORY", Width: 28, Drop: 5},
	}}}
}

// Needs implements ui.Screen.
func (*Screen) Needs() []state.Need {
	return []state.Need{{Kind: state.Projects}, {Kind: state.Summaries}}
}

func (*Screen) rows(s *state.State, t *ui.Theme) []ui.Row {
	list, _, _ := state.Get[[]api.Project](s, state.Need{Kind: state.Projects})
	rows := make([]ui.Row, len(list))
	for i, p := range list {
		of, _ := s.Summary(p.ID)
		failed := &t.Dim
		if of.Traffic.Errors > 0 {
			failed = &t.Bad
		}
		production := ui.Text("none", &t.Dim)
		if p.ProdVersionID != "" {
			production = ui.Text("★ "+p.ProdVersionID, &t.Good)
		}
		cells := []ui.Cell{
			ui.Text(p.ID, &t.Bold), production, moment(s, of.ProductionSince),
			ui.Num(ui.Rate(of.Traffic, window), float64(of.Traffic.Requests)), ui.Num(ui.Share(of.Traffic), float64(of.Traffic.Errors), failed),
			ui.Num(ui.P95(of.Traffic), of.Traffic.P95Ms), ui.Num(memory(of), float64(of.MemoryBytes)),
		}
		rows[i] = ui.Row{ID: p.ID, Cells: append(cells, counts(t, of), last(s, t, of), ui.Text(p.ProdURL, &t.Dim), ui.Text(p.GitRemote, &t.Dim))}
	}
	return rows
}

// View implements ui.Screen.
func (c *Screen) View(s *state.State, p ui.Page) string {
	_, ok, err := state.Get[[]api.Project](s, state.Need{Kind: state.Projects})
	return c.Table.View(c.rows(s, p.Theme), p, ui.Empty(ok, err, "no project yet: n creates one, and so does svcctl deploy"))
}

// Update implements ui.Screen.
func (c *Screen) Update(k tea.KeyMsg, s *state.State) ui.Intent {
	rows := c.rows(s, &ui.Theme{})
	if k.String() == "n" {
		return create()
	}
	row, ok := c.Selected(rows)
	if !ok {
		return nil
	}
	p, _ := s.FindProject(row.ID)
	switch k.String() {
	case "enter":
		return ui.Go{Place: ui.Place{Screen: "versions", Project: p.ID}}
	case "l":
		return ui.Go{Place: ui.Place{Screen: "logs", Project: p.ID}}
	case "P":
		return newest(s, p, ask.Promote)
	case "N":
		return newest(s, p, ask.Release)
	case "R":
		if !s.Has(state.Need{Kind: state.Promotions, Project: p.ID}) {
			return ui.Go{Place: ui.Place{Screen: "versions", Project: p.ID}}
		}
		return ask.Rollback(s, p.ID)
	case "o":
		if p.ProdURL != "" {
			return ui.Browse{URL: p.ProdURL}
		}
		return ui.Note{Text: p.ID + " has no production"}
	case "y":
		return ui.Copy{Text: p.ProdURL}
	case "x":
		return ask.DeleteProject(s, p)
	}
	c.Table.Update(k, rows)
	return nil
}

// newest asks about the newest ready version.
func newest(s *state.State, p api.Project, question func(*state.State, string, string) ui.Intent) ui.Intent {
	list, ok, _ := state.Get[[]api.Version](s, state.Need{Kind: state.Versions, Project: p.ID})
	if !ok {
		return ui.Go{Place: ui.Place{Screen: "versions", Project: p.ID}}
	}
	for _, v := range list {
		if v.Status == api.VersionStatusReady {
			return question(s, p.ID, v.ID)
		}
	}
	return ui.Note{Text: p.ID + " has no ready version"}
}

func create() ui.Intent {
	return ui.Input{Title: "Create a project", Label: "Its id: lower-case letters, digits and -", Then: func(id string) ui.Intent {
		if id == "" {
			return ui.Note{Text: "nothing was changed"}
		}
		return ui.Do{Actions: []state.Action{{Verb: state.Create, Project: id}}}
	}}
}

// Keys implements ui.Screen.
func (*Screen) Keys() []key.Binding {
	return []key.Binding{
		ui.Key("versions", "enter"), ui.Key("logs; of the production", "l"), ui.Key("release; the newest ready version", "N"), ui.Key("promote; the newest ready version", "P"), ui.Key("roll back", "R"),
		ui.Key("open", "o"), ui.Key("copy the URL", "y"), ui.Key("new project", "n"), ui.Key("delete; the project and all its versions", "x"),
	}
}

// Click implements ui.Clicked.
func (c *Screen) Click(y int, s *state.State) { c.Table.Click(y, c.rows(s, &ui.Theme{})) }

// Wheel implements ui.Clicked.
func (c *Screen) Wheel(by int, s *state.State) { c.Move(by, c.rows(s, &ui.Theme{})) }

// Choose implements ui.Numbered.
func (c *Screen) Choose(n int, s *state.State) bool { return c.Select(n, c.rows(s, &ui.Theme{})) }
