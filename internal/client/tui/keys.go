package tui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

// frameKeys are the keys of every screen.
func frameKeys() []key.Binding {
	return []key.Binding{
		ui.Key("command", ":"), ui.Key("filter", "/"), ui.Key("back; removes the filter", "esc"), ui.Key("these keys", "?"),
		ui.Key("pulse, projects, activity, server", "1-4"), ui.Key("read everything again", "r"), ui.Key("quit", "q", "ctrl+c"),
	}
}

// tableKeys are the keys of every table.
func tableKeys() []key.Binding {
	return []key.Binding{
		ui.Key("down, up (or arrows)", "j/k"), ui.Key("first, last", "g/G"), ui.Key("a page down, up", "f/b"),
		ui.Key("mark; actions are for all marked rows", " "), ui.Key("sort by the next column; S turns the order", "s"),
	}
}

// key takes a key: the innermost of dialog, prompt, help, frame and screen has it.
func (m *Model) key(k tea.KeyMsg) tea.Cmd {
	if k.String() == "ctrl+c" {
		return tea.Quit
	}
	if len(k.Runes) > 1 { // typed fast, or pasted: one key after the other
		var cmds []tea.Cmd
		for _, r := range k.Runes {
			cmds = append(cmds, m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: k.Alt}))
		}
		return tea.Sequence(cmds...)
	}
	switch {
	case m.dialog != nil:
		return m.dialogKey(k)
	case m.prompt != nil:
		return m.promptKey(k)
	case m.help && !strings.Contains(":1234", k.String()): // a command that the list names can be typed
		m.scrollHelp(k.String())
		return nil
	}
	m.help, m.helpAt = false, 0
	m.note = ""
	switch k.String() {
	case "q":
		return tea.Quit
	case "?":
		m.help = true
	case ":":
		m.prompt = &prompt{sign: ":"}
	case "/":
		if f, ok := m.top().screen.(ui.Filtered); ok {
			m.prompt = &prompt{sign: "/", line: ui.NewLine(f.Filter())}
		}
	case "esc", "backspace":
		if f, ok := m.top().screen.(ui.Filtered); ok && f.Filter() != "" {
			f.SetFilter("")
			return nil
		}
		m.back()
	case "1", "2", "3", "4":
		m.open(global()[k.String()[0]-'1'], nil)
	case "r", "ctrl+l":
		m.state.Reset()
		return tea.ClearScreen
	default:
		return m.carry(m.top().screen.Update(k, m.state))
	}
	return nil
}

// scrollHelp moves the list of keys; keys that do not move it close it.
func (m *Model) scrollHelp(k string) {
	switch k {
	case "down", "j":
		m.helpAt++
	case "up", "k":
		m.helpAt = max(m.helpAt-1, 0)
	default:
		m.help, m.helpAt = false, 0
	}
}

// mouse selects a row, and turns the wheel.
func (m *Model) mouse(e tea.MouseMsg) {
	s, ok := m.top().screen.(ui.Clicked)
	if !ok || m.dialog != nil || m.help {
		return
	}
	switch {
	case e.Button == tea.MouseButtonWheelUp:
		s.Wheel(-3, m.state)
	case e.Button == tea.MouseButtonWheelDown:
		s.Wheel(3, m.state)
	case e.Button == tea.MouseButtonLeft && e.Action == tea.MouseActionPress:
		s.Click(e.Y-headLines, m.state)
	}
}
