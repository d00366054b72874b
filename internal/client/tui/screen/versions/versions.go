package versions

import (
	"cmp"
	"slices"
	"strings"

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

	project string
	status  int // of statuses
}

// New makes the screen of a project.
func New(p ui.Place) *Screen {
	return &Screen{project: p.Project, Table: ui.Table{Columns: []ui.Column{
		{Name: "VERSION", Width: 18},
		{Name: "STATUS", Width: 14},
		{Name: "PROD", Width: 4},
		{Name: "PIN", Width: 8, Rare: true},
		{Name: "PARENT", Width: 16, Drop: 5, Rare: true},
		{Name: "REF", Width: 20, Drop: 8},
		{Name: "PREVIEW", Width: 14, Drop: 7, Rare: true},
		{Name: "AGE", Width: 6, Right: true},
		{Name: "REQUEST", Width: 8, Right: true, Drop: 2},
		{Name: "MEMORY", Width: 10, Right: true, Drop: 3},
		{Name: "IN FLIGHT", Width: 9, Right: true, Drop: 4},
		{Name: "WS", Width: 4, Right: true, Drop: 6, Rare: true},
		{Name: "ERROR", Width: 14, Drop: 1, Flex: true},
		{Name: "URL", Width: 30, Drop: 9, Flex: true},
	}}}
}

// statuses are what f shows, one after the other.
func statuses() []string { return []string{"", "ready", "deploying", "failed", "archived", "pinned"} }

// Needs implements ui.Screen.
func (c *Screen) Needs() []state.Need {
	return []state.Need{
		{Kind: state.Versions, Project: c.project}, {Kind: state.Projects}, {Kind: state.Promotions, Project: c.project}, c.routes(),
	}
}

func (c *Screen) list(s *state.State) []api.Version {
	all, _, _ := state.Get[[]api.Version](s, state.Need{Kind: state.Versions, Project: c.project})
	all = productionFirst(all)
	want := statuses()[c.status]
	if want == "" {
		return all
	}
	var some []api.Version
	for _, v := range all {
		if string(v.Status) == want || want == "pinned" && v.Pinned || want == "deploying" && ui.Deploying(v.Status) {
			some = append(some, v)
		}
	}
	return some
}

// productionFirst puts production before the newer versions.
func productionFirst(all []api.Version) []api.Version {
	i := slices.IndexFunc(all, func(v api.Version) bool { return v.IsProduction })
	if i <= 0 {
		return all
	}
	return slices.Concat(all[i:i+1], all[:i], all[i+1:])
}

func (c *Screen) rows(s *state.State, t *ui.Theme) []ui.Row {
	list, loads := c.list(s), c.loads(s)
	rows := make([]ui.Row, len(list))
	for i, v := range list {
		status, style := ui.Status(t, v)
		requested := ui.Num("-", 0, &t.Dim)
		if at := later(v.LastRequestAt, loads[v.ID].requested); at != nil {
			requested = ui.Num(ui.Age(s.Now, at.Time), -float64(at.UnixMilli()))
		}
		parent := ""
		if v.ParentVersionID != nil {
			parent = *v.ParentVersionID
		}
		memory, inflight, websockets := loads[v.ID].cells(v.Status)
		rows[i] = ui.Row{ID: v.ID, Search: v.GitSHA, Cells: []ui.Cell{
			ui.Text(strings.TrimSpace(v.ID+"  "+ui.Before(v)), &t.Bold), ui.Text(status, style), ui.Text(Prod(v), &t.Accent), ui.Text(Pin(v)), ui.Text(parent, &t.Dim), ui.Text(ref(v)), ui.Text(v.PreviewName),
			ui.Num(ui.Age(s.Now, v.CreatedAt.Time), -float64(v.CreatedAt.UnixMilli())), requested, memory, inflight, websockets, ui.Text(failure(v), &t.Bad), ui.Text(v.PreviewURL, &t.Dim),
		}}
	}
	return rows
}

// View implements ui.Screen.
func (c *Screen) View(s *state.State, p ui.Page) string {
	_, ok, err := state.Get[[]api.Version](s, state.Need{Kind: state.Versions, Project: c.project})
	nothing := "no version yet: svcctl deploy --project " + c.project
	if want := statuses()[c.status]; want != "" {
		nothing = "no " + want + " version; F shows others"
	}
	rows := c.rows(s, p.Theme)
	row, some := c.Selected(rows)
	v, known := s.FindVersion(c.project, row.ID)
	if p.Plain || p.W < wideList || !some || !known {
		return c.Table.View(rows, p, ui.Empty(ok, err, nothing))
	}
	list := p
	list.W = p.W - paneWidth
	return beside(c.Table.View(rows, list, ""), c.pane(s, v, p), list)
}

// Update implements ui.Screen.
func (c *Screen) Update(k tea.KeyMsg, s *state.State) ui.Intent {
	rows := c.rows(s, &ui.Theme{})
	if k.String() == "F" {
		c.status = (c.status + 1) % len(statuses())
		return ui.Note{Text: "showing " + cmp.Or(c.Only(), "all") + " versions"}
	}
	row, ok := c.Selected(rows)
	if !ok {
		return nil
	}
	if c.Table.Update(k, rows) {
		return nil
	}
	return c.act(k.String(), s, row.ID, c.Chosen(rows))
}

// Only implements ui.Narrowed.
func (c *Screen) Only() string { return statuses()[c.status] }

// act is for a key that acts on the version id, or on all chosen ones.
func (c *Screen) act(k string, s *state.State, id string, chosen []string) ui.Intent {
	at := func(screen, arg string) ui.Intent {
		return ui.Go{Place: ui.Place{Screen: screen, Project: c.project, Version: id, Arg: arg}}
	}
	switch k {
	case "enter", "d":
		return at("version", "")
	case "e":
		return at("version", "env")
	case "l":
		return at("logs", "")
	case "D":
		return at("data", "")
	case "t":
		return ui.Go{Place: ui.Place{Screen: "tree", Project: c.project}}
	case "R":
		return ask.Rollback(s, c.project)
	}
	if i := Act(k, s, c.project, chosen); i != nil {
		c.Marks = nil
		return i
	}
	return nil
}

// Act returns the intent of a key that acts on versions; nil for another key.
func Act(k string, s *state.State, project string, ids []string) ui.Intent {
	v, ok := s.FindVersion(project, ids[0])
	if !ok {
		return nil
	}
	switch k {
	case "N":
		return ask.Release(s, project, v.ID)
	case "p":
		return ask.Promote(s, project, v.ID)
	case "A":
		return ask.Do(state.Archive, project, ids)
	case "W":
		return ask.Do(state.Wake, project, ids)
	case "P":
		if v.Pinned {
			return ask.Do(state.Unpin, project, ids)
		}
		return ask.Do(state.Pin, project, ids)
	case "x":
		return ask.Destroy(s, project, ids)
	case "o":
		return ui.Browse{URL: v.PreviewURL}
	case "O":
		if v.PreviewName == "" {
			return ui.Note{Text: v.ID + " has no preview name"}
		}
		return ui.Browse{URL: v.PreviewNameURL}
	case "y":
		return ui.Copy{Text: v.PreviewURL}
	case "Y":
		return ui.Copy{Text: project + "/" + v.ID}
	}
	return nil
}

// Keys implements ui.Screen.
func (*Screen) Keys() []key.Binding {
	return append([]key.Binding{ui.Key("details", "enter"), ui.Key("logs", "l"), ui.Key("data", "D"), ui.Key("tree", "t")}, ActKeys()...)
}

// ActKeys are the keys of Act and of the rollback.
func ActKeys() []key.Binding {
	return []key.Binding{
		ui.Key("release; its code on the data of production", "N"), ui.Key("promote; with its own data", "p"), ui.Key("roll back", "R"), ui.Key("archive", "A"), ui.Key("wake", "W"), ui.Key("pin; or unpin", "P"), ui.Key("destroy", "x"),
		ui.Key("open", "o"), ui.Key("open the preview name", "O"), ui.Key("copy the URL", "y"), ui.Key("copy the id", "Y"), ui.Key("env", "e"), ui.Key("only one status", "F"),
	}
}

// Click implements ui.Clicked.
func (c *Screen) Click(y int, s *state.State) { c.Table.Click(y, c.rows(s, &ui.Theme{})) }

// Wheel implements ui.Clicked.
func (c *Screen) Wheel(by int, s *state.State) { c.Move(by, c.rows(s, &ui.Theme{})) }

// Choose implements ui.Numbered.
func (c *Screen) Choose(n int, s *state.State) bool { return c.Select(n, c.rows(s, &ui.Theme{})) }
