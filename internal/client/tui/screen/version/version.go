package version

import (
	"slices"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/screen/ask"
	"github.com/svcctl/svcctl/internal/client/tui/screen/data"
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
	top         int // first line that is shown
	above       int // lines above the tab in the last view
	logs        *logs.Screen
	env         envTab
	data        *data.Screen // what the version has of data
	other       string       // what the version is compared with; "" for the production
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
		{"env", state.Env, nil},
		{"bindings", state.Bindings, (*Screen).bindings},
		{"data", state.Stores, nil},
		{"process", state.Routes, (*Screen).process},
		{"bundle", state.Bundle, (*Screen).bundle},
		{"compare", state.Compare, (*Screen).compare},
	}
}

// New makes the screen of a version; Arg is the name of a tab.
func New(p ui.Place) *Screen {
	c := &Screen{project: p.Project, id: p.Version, logs: logs.New(ui.Place{Project: p.Project, Version: p.Version}), env: newEnvTab(p), data: data.New(ui.Place{Screen: "data", Project: p.Project, Version: p.Version})}
	c.show(p.Arg)
	return c
}

// show opens a tab, the first one for an unknown name.
func (c *Screen) show(name string) {
	c.tab, c.top = max(slices.IndexFunc(tabs(), func(t tab) bool { return t.name == name }), 0), 0
}

func (c *Screen) at(name string) bool { return tabs()[c.tab].name == name }

func (c *Screen) need(k state.Kind) state.Need {
	n := state.Need{Kind: k, Project: c.project, Version: c.id}
	if k == state.Compare {
		n.Arg = c.other
	}
	return n
}

// Needs implements ui.Screen.
func (c *Screen) Needs() []state.Need {
	needs := []state.Need{c.need(state.Version), {Kind: state.Projects}, {Kind: state.Promotions, Project: c.project}}
	switch t := tabs()[c.tab]; {
	case t.needs == state.Routes:
		needs = append(needs, state.Need{Kind: state.Routes, Project: c.project}, state.Need{Kind: state.Traffic})
	case t.needs == state.Logs:
		needs = append(needs, c.logs.Needs()...)
	case t.needs != "":
		needs = append(needs, c.need(t.needs))
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
	c.above = len(head)
	switch {
	case c.at("logs"):
		return ui.Above(head, p, func(rest ui.Page) string { return c.logs.View(s, rest) })
	case c.at("env"):
		return ui.Above(append(head, ""), p, func(rest ui.Page) string { return c.env.view(s, rest) })
	case c.at("data"):
		return ui.Above(head, p, func(rest ui.Page) string { return c.data.View(s, rest) })
	}
	body := tabs()[c.tab].draw(c, s, v, p)
	c.top = max(min(c.top, len(body)-(p.H-len(head))), 0)
	return ui.Lines(append(head, body[c.top:]...), p.W, p.H)
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
	switch {
	case c.at("logs"):
		return c.logs.Update(k, s)
	case c.at("env"):
		if i, used := c.env.update(k, s); used {
			return i
		}
	case c.at("data"):
		if i, used := c.dataKey(k, s); used {
			return i
		}
	}
	return c.update(k.String(), s)
}

// update takes the keys that no tab has for itself.
func (c *Screen) update(k string, s *state.State) ui.Intent {
	switch k {
	case "down", "j":
		c.top++
	case "up", "k":
		c.top = max(c.top-1, 0)
	case "e":
		c.show("env")
	case "c":
		return c.compareWith()
	case "l":
		return ui.Go{Place: ui.Place{Screen: "logs", Project: c.project, Version: c.id}}
	case "D":
		return ui.Go{Place: ui.Place{Screen: "data", Project: c.project, Version: c.id}}
	case "R":
		return ask.Rollback(s, c.project)
	default:
		return versions.Act(k, s, c.project, []string{c.id})
	}
	return nil
}

// Keys implements ui.Screen.
func (c *Screen) Keys() []key.Binding {
	keys := []key.Binding{ui.Key("next tab; [ the one before", "]")}
	switch {
	case c.at("logs"):
		return append(keys, c.logs.Keys()...)
	case c.at("env"):
		keys = append(keys, envKeys()...)
	case c.at("data"):
		keys = append(keys, ui.Key("open; its content", "enter"))
	case c.at("compare"):
		keys = append(keys, ui.Key("compare with another version", "c"))
	default:
		keys = append(keys, ui.Key("env", "e"), ui.Key("compare; with the production", "c"))
	}
	return append(append(keys, ui.Key("logs", "l"), ui.Key("data", "D")), versions.ActKeys()[:10]...)
}
