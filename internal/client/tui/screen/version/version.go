package version

import (
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/screen/ask"
	"github.com/svcctl/svcctl/internal/client/tui/screen/logs"
	"github.com/svcctl/svcctl/internal/client/tui/screen/versions"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// Screen is the screen.
type Screen struct {
	project, id string
	tab         int
	reveal      bool // values of the environment
	top         int  // first line that is shown
	logs        *logs.Screen
}

// tab is one side of a version.
type tab struct {
	name  string
	needs state.Kind
	draw  func(c *Screen, s *state.State, v api.Version, p ui.Page) []string
}

func tabs() []tab {
	return []tab{
		{"timeline", "", (*Screen).timeline},
		{"logs", state.Logs, nil},
		{"env", "", (*Screen).env},
		{"bindings", state.Bindings, (*Screen).bindings},
		{"process", state.Routes, (*Screen).process},
	}
}

// New makes the screen of a version; Arg is the name of a tab.
func New(p ui.Place) *Screen {
	c := &Screen{project: p.Project, id: p.Version, logs: logs.New(ui.Place{Project: p.Project, Version: p.Version})}
	c.tab = max(slices.IndexFunc(tabs(), func(t tab) bool { return t.name == p.Arg }), 0)
	return c
}

func (c *Screen) need(k state.Kind) state.Need {
	return state.Need{Kind: k, Project: c.project, Version: c.id}
}

// Needs implements ui.Screen.
func (c *Screen) Needs() []state.Need {
	needs := []state.Need{c.need(state.Version), {Kind: state.Projects}, {Kind: state.Promotions, Project: c.project}}
	switch t := tabs()[c.tab]; {
	case t.needs == state.Routes:
		needs = append(needs, state.Need{Kind: state.Routes})
	case t.needs == state.Logs:
		needs = append(needs, c.logs.Needs()...)
	case t.needs != "":
		needs = append(needs, c.need(t.needs))
	}
	if c.reveal {
		needs = append(needs, c.need(state.Env))
	}
	return needs
}

// View implements ui.Screen.
func (c *Screen) View(s *state.State, p ui.Page) string {
	v, ok := s.FindVersion(c.project, c.id)
	if !ok {
		_, _, err := state.Get[api.Version](s, c.need(state.Version))
		return ui.Lines([]string{p.Dim.Render("  " + ui.Empty(false, err, ""))}, p.W, p.H)
	}
	head := append(c.summary(s, v, p), c.tabLine(p))
	if c.logsShown() {
		rest := p
		rest.H = max(p.H-len(head), 1)
		return ui.Lines(append(head, strings.Split(c.logs.View(s, rest), "\n")...), p.W, p.H)
	}
	body := tabs()[c.tab].draw(c, s, v, p)
	c.top = max(min(c.top, len(body)-(p.H-len(head))), 0)
	return ui.Lines(append(head, body[c.top:]...), p.W, p.H)
}

func (c *Screen) logsShown() bool { return tabs()[c.tab].name == "logs" }

// summary is what every tab shows above its own.
func (c *Screen) summary(s *state.State, v api.Version, p ui.Page) []string {
	status, style := ui.Status(p.Theme, v)
	first := " " + style.Render(status)
	if v.IsProduction {
		first += "  " + p.Accent.Render("★ production")
	}
	if v.Pinned {
		first += "  pinned"
	}
	if v.GitRef+v.GitSHA != "" {
		first += "  " + ui.Clean(v.GitRef) + p.Dim.Render(" "+ui.Clean(v.GitSHA[:min(12, len(v.GitSHA))]))
	}
	if v.ParentVersionID != nil {
		first += p.Dim.Render("  data from ") + ui.Clean(*v.ParentVersionID)
	}
	first += p.Dim.Render("  made " + ui.Age(s.Now, v.CreatedAt.Time) + " ago")
	lines := []string{first, " " + p.Dim.Render(ui.Clean(v.PreviewURL))}
	if v.PreviewName != "" {
		lines[1] += p.Dim.Render("  preview ") + ui.Clean(v.PreviewName) + p.Dim.Render(" "+ui.Clean(v.PreviewNameURL))
	}
	if v.Error != "" {
		for _, l := range ui.Wrap("error: "+ui.Clean(v.Error), p.W-2) {
			lines = append(lines, " "+p.Bad.Render(l))
		}
	}
	for _, w := range v.Warnings {
		lines = append(lines, " "+p.Warn.Render("warning: "+ui.Clean(w)))
	}
	return lines
}

func (c *Screen) tabLine(p ui.Page) string {
	var parts []string
	for i, t := range tabs() {
		if i == c.tab {
			parts = append(parts, p.Cursor.Render("["+t.name+"]"))
		} else {
			parts = append(parts, p.Dim.Render(" "+t.name+" "))
		}
	}
	return " " + strings.Join(parts, " ")
}

// Update implements ui.Screen.
func (c *Screen) Update(k tea.KeyMsg, s *state.State) ui.Intent {
	switch k.String() {
	case "]", "tab", "right":
		c.tab, c.top = (c.tab+1)%len(tabs()), 0
		return nil
	case "[", "shift+tab", "left":
		c.tab, c.top = (c.tab+len(tabs())-1)%len(tabs()), 0
		return nil
	}
	if c.logsShown() {
		return c.logs.Update(k, s)
	}
	switch k.String() {
	case "down", "j":
		c.top++
	case "up", "k":
		c.top = max(c.top-1, 0)
	case "l":
		return ui.Go{Place: ui.Place{Screen: "logs", Project: c.project, Version: c.id}}
	case "D":
		return ui.Go{Place: ui.Place{Screen: "data", Project: c.project, Version: c.id}}
	case "R":
		return ask.Rollback(s, c.project)
	case "v":
		c.reveal = !c.reveal
	default:
		return versions.Act(k.String(), s, c.project, []string{c.id})
	}
	return nil
}

// Filter implements ui.Filtered.
func (c *Screen) Filter() string {
	if c.logsShown() {
		return c.logs.Filter()
	}
	return ""
}

// SetFilter implements ui.Filtered.
func (c *Screen) SetFilter(text string) {
	if c.logsShown() {
		c.logs.SetFilter(text)
	}
}

// Keys implements ui.Screen.
func (c *Screen) Keys() []key.Binding {
	keys := []key.Binding{ui.Key("next tab; [ the one before", "]")}
	switch tabs()[c.tab].name {
	case "logs":
		return append(keys, c.logs.Keys()...)
	case "env":
		keys = append(keys, ui.Key("show the values", "v"))
	}
	return append(append(keys, ui.Key("logs", "l"), ui.Key("data", "D")), versions.ActKeys()[:9]...)
}
