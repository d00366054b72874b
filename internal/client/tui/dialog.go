package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

// dialog asks a question: for a y, for a word to be typed, or for a text.
type dialog struct {
	title   string
	lines   []string
	typed   string // what has to be typed; "" for a y
	label   string // of the text
	line    ui.Line
	actions []state.Action
	needs   []state.Need
	live    func(*state.State) []string // nil for none
	then    func(string) ui.Intent      // of a question for a text
	wrong   bool
}

func (m *Model) ask(a ui.Ask) tea.Cmd {
	if m.state.ReadOnly {
		return m.do(nil)
	}
	m.dialog = &dialog{title: a.Title, lines: a.Lines, typed: a.Type, actions: a.Actions, needs: a.Needs, live: a.Live}
	for _, n := range a.Needs {
		m.state.Expire(n)
	}
	return nil
}

// text reports whether the dialog takes a text.
func (d *dialog) text() bool { return d.typed != "" || d.then != nil }

func (m *Model) dialogKey(k tea.KeyMsg) tea.Cmd {
	d := m.dialog
	switch {
	case k.String() == "esc", !d.text() && (k.String() == "n" || k.String() == "q"):
		m.dialog = nil
		m.say("nothing was changed")
	case d.text() && k.String() == "enter":
		return m.answer(d)
	case d.text():
		d.wrong = false
		d.line.Update(k)
	case k.String() == "y":
		m.dialog = nil
		return m.do(d.actions)
	}
	return nil
}

// answer takes what was typed.
func (m *Model) answer(d *dialog) tea.Cmd {
	text := strings.TrimSpace(d.line.Text())
	switch {
	case d.then != nil:
		m.dialog = nil
		return m.carry(d.then(text))
	case text != d.typed:
		d.wrong = true
		return nil
	}
	m.dialog = nil
	return m.do(d.actions)
}

// view draws the dialog.
func (d *dialog) view(s *state.State, p ui.Page) string {
	lines, texts := []string{"", "  " + p.Bold.Render(d.title), ""}, d.lines
	if d.live != nil {
		texts = slices.Concat(texts, []string{""}, d.live(s))
	}
	for _, l := range texts {
		for _, part := range ui.Wrap(ui.Clean(l), p.W-4) {
			lines = append(lines, "  "+part)
		}
	}
	lines = append(lines, "")
	switch {
	case d.typed != "":
		lines = append(lines, "  Type "+p.Bold.Render(d.typed)+" and press enter; esc cancels.", "", "  > "+d.line.View(p.Theme, p.W-6))
	case d.then != nil:
		lines = append(lines, "  "+d.label+"; esc cancels.", "", "  > "+d.line.View(p.Theme, p.W-6))
	default:
		lines = append(lines, "  "+p.Bold.Render("y")+" yes   "+p.Bold.Render("n")+" no")
	}
	if d.wrong {
		lines = append(lines, "", "  "+p.Bad.Render("That is not "+d.typed+"."))
	}
	return ui.Lines(lines, p.W, p.H)
}
