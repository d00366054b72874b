package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

// carry out what a screen or a dialog wants.
func (m *Model) carry(i ui.Intent) tea.Cmd {
	switch i := i.(type) {
	case ui.Go:
		m.push(i.Place)
	case ui.Ask:
		return m.ask(i)
	case ui.Input:
		m.dialog = &dialog{title: i.Title, label: i.Label, line: ui.NewLine(i.Text), then: i.Then}
	case ui.Do:
		return m.do(i.Actions)
	case ui.Copy:
		return m.copy(i.Text)
	case ui.Save:
		return m.save(i)
	case ui.Fetch:
		m.say("downloading " + i.Of.Key + " …")
		return m.remote.Download(i.Of)
	case ui.Browse:
		m.say("opening " + i.URL)
		return m.browse(i.URL)
	case ui.Note:
		m.say(i.Text)
	}
	return nil
}

func (m *Model) do(actions []state.Action) tea.Cmd {
	if m.state.ReadOnly {
		m.fail("read-only: start svcctl ui without --read-only to change something")
		return nil
	}
	var cmds []tea.Cmd
	actions = slices.DeleteFunc(slices.Clone(actions), func(a state.Action) bool { return m.state.Running[a] })
	for _, a := range actions {
		m.state.Running[a] = true
		m.say(string(a.Verb) + " " + a.Target() + " …")
		cmds = append(cmds, m.remote.Do(a))
	}
	if len(actions) > 1 {
		m.bulk = newBulk(actions)
	}
	return tea.Batch(cmds...)
}

// copied, saved and failed are the ends of what the desk does.
type (
	copied struct{ text string }
	saved  struct{ path string }
	failed struct{ err error }
)

func (m *Model) copy(text string) tea.Cmd {
	return func() tea.Msg {
		if err := m.desk.Copy(text); err != nil {
			return failed{err}
		}
		return copied{text}
	}
}

func (m *Model) save(s ui.Save) tea.Cmd {
	return func() tea.Msg {
		if err := m.desk.Save(s.Path, s.Text); err != nil {
			return failed{err}
		}
		return saved{s.Path}
	}
}

func (m *Model) browse(url string) tea.Cmd {
	return func() tea.Msg {
		if err := m.desk.Browse(url); err != nil {
			return failed{err}
		}
		return nil
	}
}
