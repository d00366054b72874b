package tree

import (
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/screen/ask"
	"github.com/svcctl/svcctl/internal/client/tui/screen/versions"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// Screen is the screen.
type Screen struct {
	ui.Table

	project string
}

// New makes the screen of a project.
func New(p ui.Place) *Screen {
	return &Screen{project: p.Project, Table: ui.Table{Columns: []ui.Column{
		{Name: "BRANCH", Width: 22, Flex: true},
		{Name: "STATUS", Width: 11},
		{Name: "PROD", Width: 4},
		{Name: "PIN", Width: 8, Rare: true},
		{Name: "AGE", Width: 6, Right: true},
		{Name: "CUT", Width: 10, Drop: 3, Right: true},
		{Name: "OWN", Width: 10, Right: true},
		{Name: "SHARED", Width: 10, Right: true, Drop: 1},
		{Name: "FREES", Width: 10, Right: true},
		{Name: "FOR OTHERS", Width: 10, Right: true, Drop: 2},
	}}}
}

// Needs implements ui.Screen.
func (c *Screen) Needs() []state.Need {
	return []state.Need{{Kind: state.Versions, Project: c.project}, {Kind: state.Projects}, {Kind: state.Promotions, Project: c.project}, c.sizes()}
}

func (c *Screen) sizes() state.Need { return state.Need{Kind: state.Branches, Project: c.project} }

// versions returns the versions, newest first, and the destroyed ones of which others still
// need data.
func (c *Screen) versions(s *state.State) []api.Version {
	list, _, _ := state.Get[[]api.Version](s, state.Need{Kind: state.Versions, Project: c.project})
	tree, _, _ := state.Get[api.BranchTree](s, c.sizes())
	for _, b := range tree.Items {
		if b.Status != api.VersionStatusDestroyed {
			continue
		}
		v := api.Version{ID: b.VersionID, ProjectID: c.project, Status: b.Status, GitRef: b.GitRef, CreatedAt: b.CreatedAt, ParentVersionID: b.ParentVersionID, ForkTXID: b.ForkTXID}
		at := slices.IndexFunc(list, func(o api.Version) bool { return o.CreatedAt.Before(v.CreatedAt.Time) })
		if at < 0 {
			at = len(list)
		}
		list = slices.Insert(slices.Clone(list), at, v)
	}
	return list
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
	sizes := c.measured(s)
	all := branches(c.versions(s))
	rows := make([]ui.Row, len(all))
	for i, b := range all {
		status, style := ui.Status(t, b.v)
		of := sizes[b.v.ID]
		rows[i] = ui.Row{ID: b.v.ID, Search: b.v.GitRef, Cells: []ui.Cell{
			ui.Text(strings.TrimRight(b.lines+b.v.ID+"  "+ui.Before(b.v), " ")), ui.Text(status, style), ui.Text(versions.Prod(b.v), &t.Accent), ui.Text(versions.Pin(b.v)),
			ui.Num(ui.Age(s.Now, b.v.CreatedAt.Time), -float64(b.v.CreatedAt.UnixMilli())), ui.Text(b.v.ForkTXID, &t.Dim),
			size(of, of.Own), size(of, of.Shared), size(of, of.Exclusive), size(of, of.Kept),
		}}
	}
	return rows
}

// amounts are the sizes of a version; the zero value is for one that was not measured.
type amounts struct {
	api.BranchSizes

	known bool
}

// measured returns the sizes in the object store by version, as of the last measurement.
func (c *Screen) measured(s *state.State) map[string]amounts {
	tree, _, _ := state.Get[api.BranchTree](s, c.sizes())
	out := map[string]amounts{}
	for _, b := range tree.Items {
		if b.Sizes != nil {
			out[b.VersionID] = amounts{*b.Sizes, true}
		}
	}
	return out
}

func size(of amounts, one api.ObjectAmount) ui.Cell {
	if !of.known {
		return ui.Num("-", -1)
	}
	return ui.Num(ui.Bytes(one.Bytes), float64(one.Bytes))
}

// View implements ui.Screen.
func (c *Screen) View(s *state.State, p ui.Page) string {
	_, ok, err := state.Get[[]api.Version](s, state.Need{Kind: state.Versions, Project: c.project})
	return ui.Above([]string{p.Dim.Render(c.head(s))}, p, func(rest ui.Page) string {
		return c.Table.View(c.rows(s, p.Theme), rest, ui.Empty(ok, err, "no version yet"))
	})
}

// head says what the sizes are.
func (c *Screen) head(s *state.State) string {
	tree, ok, err := state.Get[api.BranchTree](s, c.sizes())
	switch {
	case err != nil:
		return " sizes were not measured: " + ui.Clean(err.Error())
	case !ok:
		return " measuring the sizes in the object store …"
	case tree.Incomplete:
		return " the measurement of the sizes reached its time limit"
	case tree.MeasuredAt == nil:
		return " sizes were not measured yet"
	}
	return " measured " + ui.Age(s.Now, tree.MeasuredAt.Time) + " ago; FREES is what destroying the version frees"
}

// Update implements ui.Screen.
func (c *Screen) Update(k tea.KeyMsg, s *state.State) ui.Intent {
	rows := c.rows(s, &ui.Theme{})
	if c.Table.Update(k, rows) {
		return nil
	}
	row, ok := c.Selected(rows)
	switch {
	case !ok:
		return nil
	case k.String() == "enter":
		return ui.Go{Place: ui.Place{Screen: "version", Project: c.project, Version: row.ID}}
	case k.String() == "l":
		return ui.Go{Place: ui.Place{Screen: "logs", Project: c.project, Version: row.ID}}
	case k.String() == "D":
		return ui.Go{Place: ui.Place{Screen: "data", Project: c.project, Version: row.ID}}
	case k.String() == "R":
		return ask.Rollback(s, c.project)
	}
	return versions.Act(k.String(), s, c.project, c.Chosen(rows))
}

// Keys implements ui.Screen.
func (*Screen) Keys() []key.Binding {
	return append([]key.Binding{ui.Key("details", "enter"), ui.Key("logs", "l"), ui.Key("data", "D")}, versions.ActKeys()[:10]...)
}

// Click implements ui.Clicked.
func (c *Screen) Click(y int, s *state.State) { c.Table.Click(y-1, c.rows(s, &ui.Theme{})) }

// Wheel implements ui.Clicked.
func (c *Screen) Wheel(by int, s *state.State) { c.Move(by, c.rows(s, &ui.Theme{})) }

// Choose implements ui.Numbered.
func (c *Screen) Choose(n int, s *state.State) bool { return c.Select(n, c.rows(s, &ui.Theme{})) }
