package tree

import (
	"slices"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/screen/versions"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// Screen is the screen.
type Screen struct {
	ui.Table

	project string
	sizes   bool
}

// New makes the screen of a project.
func New(p ui.Place) *Screen {
	return &Screen{project: p.Project, Table: ui.Table{Columns: []ui.Column{
		{Name: "BRANCH", Width: 34, Flex: true},
		{Name: "STATUS", Width: 12},
		{Name: "", Width: 3},
		{Name: "AGE", Width: 6, Right: true},
		{Name: "CUT", Width: 10, Drop: 3, Right: true},
		{Name: "OWN", Width: 10, Right: true, Drop: 1},
		{Name: "FOR OTHERS", Width: 10, Right: true, Drop: 2},
	}}}
}

// Needs implements ui.Screen.
func (c *Screen) Needs() []state.Need {
	needs := []state.Need{{Kind: state.Versions, Project: c.project}, {Kind: state.Projects}}
	if c.sizes {
		needs = append(needs, state.Need{Kind: state.Sizes, Project: c.project})
	}
	return needs
}

// branch is a version with the lines that connect it to its parent.
type branch struct {
	lines string
	v     api.Version
}

// branches orders the versions so that children follow their parent, oldest first.
func branches(list []api.Version) (out []branch) {
	known, children := map[string]bool{}, map[string][]api.Version{}
	for _, v := range list {
		known[v.ID] = true
	}
	for _, v := range slices.Backward(list) { // the list is newest first
		parent := ""
		if p := v.ParentVersionID; p != nil && known[*p] {
			parent = *p
		}
		children[parent] = append(children[parent], v)
	}
	var add func(id, indent string)
	add = func(id, indent string) {
		for i, v := range children[id] {
			edge, next := "├─ ", "│  "
			if i == len(children[id])-1 {
				edge, next = "└─ ", "   "
			}
			if id == "" {
				edge, next = "", ""
			}
			out = append(out, branch{indent + edge, v})
			add(v.ID, indent+next)
		}
	}
	add("", "")
	return out
}

func (c *Screen) rows(s *state.State, t *ui.Theme) []ui.Row {
	list, _, _ := state.Get[[]api.Version](s, state.Need{Kind: state.Versions, Project: c.project})
	own, others := c.amounts(s)
	all := branches(list)
	rows := make([]ui.Row, len(all))
	for i, b := range all {
		status, style := ui.Status(t, b.v)
		mark := " "
		if b.v.IsProduction {
			mark = "★"
		}
		if b.v.Pinned {
			mark += " p"
		}
		rows[i] = ui.Row{ID: b.v.ID, Search: b.v.GitRef, Cells: []ui.Cell{
			ui.Text(b.lines + b.v.ID), ui.Text(status, style), ui.Text(mark, &t.Accent),
			ui.Num(ui.Age(s.Now, b.v.CreatedAt.Time), -float64(b.v.CreatedAt.UnixMilli())), ui.Text(b.v.ForkTXID, &t.Dim), size(own, b.v.ID), size(others, b.v.ID),
		}}
	}
	return rows
}

// amounts returns the bytes of each version's live data, and of what it keeps for
// others, if they were read.
func (c *Screen) amounts(s *state.State) (own, others map[string]int64) {
	report, ok, _ := state.Get[api.GarbageReport](s, state.Need{Kind: state.Sizes, Project: c.project})
	if !ok || !c.sizes {
		return nil, nil
	}
	own, others = map[string]int64{}, map[string]int64{}
	for _, p := range report.Projects {
		for _, v := range p.Versions {
			own[v.VersionID], others[v.VersionID] = v.Live.Bytes, v.Pinned.Bytes
		}
	}
	return own, others
}

func size(of map[string]int64, id string) ui.Cell {
	n, ok := of[id]
	if !ok {
		return ui.Num("", 0)
	}
	return ui.Num(ui.Bytes(n), float64(n))
}

// View implements ui.Screen.
func (c *Screen) View(s *state.State, p ui.Page) string {
	_, ok, err := state.Get[[]api.Version](s, state.Need{Kind: state.Versions, Project: c.project})
	return c.Table.View(c.rows(s, p.Theme), p, ui.Empty(ok, err, "no version yet"))
}

// Update implements ui.Screen.
func (c *Screen) Update(k tea.KeyMsg, s *state.State) ui.Intent {
	rows := c.rows(s, &ui.Theme{})
	if k.String() == "z" {
		c.sizes = !c.sizes
		if c.sizes {
			return ui.Note{Text: "sizes are measured in the object store, which takes a while"}
		}
		return nil
	}
	if c.Table.Update(k, rows) {
		return nil
	}
	row, ok := c.Selected(rows)
	switch {
	case !ok:
		return nil
	case k.String() == "enter":
		return ui.Go{Place: ui.Place{Screen: "version", Project: c.project, Version: row.ID}}
	case k.String() == "D":
		return ui.Go{Place: ui.Place{Screen: "data", Project: c.project, Version: row.ID}}
	}
	return versions.Act(k.String(), s, c.project, c.Chosen(rows))
}

// Keys implements ui.Screen.
func (*Screen) Keys() []key.Binding {
	return append([]key.Binding{ui.Key("details", "enter"), ui.Key("data", "D"), ui.Key("sizes", "z")}, versions.ActKeys()[:9]...)
}

// Click implements ui.Clicked.
func (c *Screen) Click(y int, s *state.State) { c.Table.Click(y, c.rows(s, &ui.Theme{})) }

// Wheel implements ui.Clicked.
func (c *Screen) Wheel(by int, s *state.State) { c.Move(by, c.rows(s, &ui.Theme{})) }

// Choose implements ui.Numbered.
func (c *Screen) Choose(n int, s *state.State) bool { return c.Select(n, c.rows(s, &ui.Theme{})) }
