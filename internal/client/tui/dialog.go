package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

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

	decide func(*state.State) ui.Decision // nil for typed and unchanged actions
	wait   string                         // why there is no answer yet
	level  ui.Level                       // of the live lines
	ways   []ui.Way
}

// refresh takes over what the answer leads to by now.
func (d *dialog) refresh(s *state.State) {
	if d.decide == nil {
		return
	}
	now := d.decide(s)
	d.typed, d.actions, d.wait, d.level = now.Type, now.Actions, now.Wait, now.Level
}

func (m *Model) ask(a ui.Ask) tea.Cmd {
	if m.state.ReadOnly {
		return m.do(nil)
	}
	m.dialog = &dialog{title: a.Title, lines: a.Lines, typed: a.Type, actions: a.Actions, needs: a.Needs, live: a.Live, decide: a.Decide, ways: a.Ways}
	for _, n := range a.Needs {
		m.state.Expire(n)
	}
	m.dialog.refresh(m.state)
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
	case d.ways != nil:
		return m.way(k.String(), d.ways)
	case k.String() == "y" && d.wait != "":
		m.say("no answer yet: " + d.wait)
	case k.String() == "y":
		m.dialog = nil
		return m.do(d.actions)
	}
	return nil
}

// way goes the way of a key.
func (m *Model) way(k string, ways []ui.Way) tea.Cmd {
	for _, w := range ways {
		if w.Key == k {
			m.dialog = nil
			return m.carry(w.Then(m.state))
		}
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
	lines := []string{"", "  " + p.Bold.Render(d.title), ""}
	add := func(texts []string, style lipgloss.Style) {
		for _, l := range texts {
			for _, part := range ui.Wrap(ui.Clean(l), p.W-4) {
				lines = append(lines, "  "+style.Render(part))
			}
		}
	}
	add(d.lines, p.Theme.Plain)
	if d.live != nil {
		lines = append(lines, "")
		add(d.live(s), map[ui.Level]lipgloss.Style{ui.Normal: p.Theme.Plain, ui.Warning: p.Warn, ui.Danger: p.Bad}[d.level])
	}
	return ui.Lines(above(lines, d.answers(p), p), p.W, p.H)
}

// above puts the lines above the answers, which a small window shows in any case.
func above(lines, answers []string, p ui.Page) []string {
	if room := p.H - len(answers); len(lines) > room && room > 1 {
		lines = append(lines[:room-1:room-1], "  "+p.Dim.Render("… a larger window shows more"))
	}
	return append(lines, answers...)
}

// answers are the lines that say how to answer.
func (d *dialog) answers(p ui.Page) []string {
	lines := []string{""}
	switch {
	case d.ways != nil:
		for _, w := range d.ways {
			lines = append(lines, "  "+p.Bold.Render(w.Key)+" "+ui.Clean(w.Text))
		}
		lines = append(lines, "  "+p.Bold.Render("n")+" no")
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
	return lines
}
