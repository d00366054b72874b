package version

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/screen/ask"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// envTab lists the variables of a version, and changes its overrides.
type envTab struct {
	ui.Table

	project, id string
	reveal      bool
}

func newEnvTab(p ui.Place) envTab {
	return envTab{project: p.Project, id: p.Version, Table: ui.Table{Columns: []ui.Column{
		{Name: "NAME", Width: 28}, {Name: "SOURCE", Width: 21}, {Name: "VALUE", Width: 20, Flex: true},
	}}}
}

// entries returns the variables with their sources.
func (e *envTab) entries(s *state.State) ([]api.EnvEntry, bool, error) {
	return state.Get[[]api.EnvEntry](s, state.Need{Kind: state.Env, Project: e.project, Version: e.id})
}

func (e *envTab) rows(s *state.State, t *ui.Theme) []ui.Row {
	list, _, _ := e.entries(s)
	rows := make([]ui.Row, len(list))
	for i, v := range list {
		source, value := string(v.Source), ui.Text(fmt.Sprintf("(hidden, %d bytes)", len(v.Value)), &t.Dim)
		for _, below := range v.Shadowed {
			source += ", over " + string(below)
		}
		if e.reveal || v.Source != api.EnvSourceOverride { // what the platform sets and the project file says is no secret
			value = ui.Text(v.Value)
		}
		rows[i] = ui.Row{ID: v.Key, Cells: []ui.Cell{ui.Text(v.Key, &t.Bold), ui.Text(source, &t.Dim), value}}
	}
	return rows
}

func (e *envTab) view(s *state.State, p ui.Page) string {
	_, ok, err := e.entries(s)
	return e.View(e.rows(s, p.Theme), p, ui.Empty(ok, err, "no variable; a sets one"))
}

// update takes a key; false means that the tab has no use for it.
func (e *envTab) update(k tea.KeyMsg, s *state.State) (ui.Intent, bool) {
	rows := e.rows(s, &ui.Theme{})
	row, ok := e.Selected(rows)
	switch {
	case k.String() == "v":
		e.reveal = !e.reveal
		return nil, true
	case k.String() == "a":
		return e.input(s, ""), true
	case k.String() == "e" && ok:
		return e.input(s, e.text(s, row.ID)), true
	case k.String() == "u" && ok:
		return e.unset(s, row.ID), true
	}
	return nil, e.Update(k, rows)
}

// text is what a change of a variable begins with: its value only if it is shown.
func (e *envTab) text(s *state.State, name string) string {
	list, _, _ := e.entries(s)
	for _, v := range list {
		if v.Key == name && (e.reveal || v.Source == api.EnvSourceBundle) {
			return name + "=" + v.Value
		}
	}
	return name + "="
}

// input asks for a variable and its value.
func (e *envTab) input(s *state.State, text string) ui.Intent {
	return ui.Input{Title: "Set a variable of " + e.project + "/" + e.id, Label: "NAME=VALUE", Text: text, Then: func(text string) ui.Intent {
		name, value, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return ui.Note{Text: "nothing was changed: want NAME=VALUE"}
		}
		return ask.Env(s, state.Action{Verb: state.SetVar, Project: e.project, Version: e.id, Arg: state.JoinArg(name, value)})
	}}
}

// unset deletes an override.
func (e *envTab) unset(s *state.State, name string) ui.Intent {
	list, _, _ := e.entries(s)
	for _, v := range list {
		if v.Key == name && v.Source != api.EnvSourceOverride {
			return ui.Note{Text: name + " comes from the " + string(v.Source) + ": only an override can be deleted"}
		}
	}
	return ask.Env(s, state.Action{Verb: state.UnsetVar, Project: e.project, Version: e.id, Arg: state.JoinArg(name)})
}

func envKeys() []key.Binding {
	return []key.Binding{
		ui.Key("show the values", "v"), ui.Key("set a variable", "a"), ui.Key("change; the variable", "e"), ui.Key("unset; deletes an override", "u"),
	}
}
