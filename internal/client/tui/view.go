package tui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"

	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

const (
	headLines = 2   // above the screen
	footLines = 2   // below it
	helpWidth = 110 // columns from which on the keys stand in two columns
)

// View implements tea.Model.
func (m *Model) View() string {
	p := ui.Page{Theme: m.theme, W: m.w, H: max(m.h-headLines-footLines, 1)}
	var body string
	switch {
	case m.dialog != nil:
		body = m.dialog.view(m.state, p)
	case m.help:
		body = m.helpView(p)
	default:
		body = m.top().screen.View(m.state, p)
	}
	return strings.Join([]string{m.header(), m.banner(), body, m.message(), m.footer()}, "\n")
}

// header says where the person is, and on which server.
func (m *Model) header() string {
	left := " svcctl  " + m.crumbs()
	right := m.state.Server + " "
	if m.state.Context != "" {
		right = m.state.Context + "  " + right
	}
	if m.state.ReadOnly {
		right = "read-only  " + right
	}
	if ui.Width(left)+ui.Width(right) > m.w-1 {
		right = ""
	}
	return m.theme.Head.Render(ui.Fit(left, m.w-ui.Width(right))) + m.theme.Dim.Render(right)
}

// crumbs are the places to which esc goes back.
func (m *Model) crumbs() string {
	p := m.top().place
	parts := []string{}
	for _, s := range []string{p.Project, p.Version} {
		if s != "" {
			parts = append(parts, ui.Clean(s))
		}
	}
	return strings.Join(append(parts, p.Screen), " › ")
}

// banner says since when what is shown is old; a line without anything else.
func (m *Model) banner() string {
	l := m.state.Link
	switch {
	case !m.linked:
		return m.theme.Dim.Render(ui.Fit(" connecting …", m.w))
	case l.Up:
		return m.theme.Dim.Render(strings.Repeat("─", m.w))
	}
	text := " no answer for " + ui.Age(m.state.Now, l.At) + ": what is shown is of " + l.At.Format("15:04:05") + "; connecting again"
	if l.Err != nil {
		text += " (" + ui.Clean(l.Err.Error()) + ")"
	}
	return m.theme.Bad.Render(ui.Fit(text, m.w))
}

// message is the line of the prompt or the note.
func (m *Model) message() string {
	if m.prompt == nil {
		style := m.theme.Plain
		if m.bad {
			style = m.theme.Bad
		}
		return style.Render(ui.Fit(" "+m.note, m.w))
	}
	line := " " + m.prompt.sign + m.prompt.line.View(m.theme, m.w-4)
	if m.prompt.sign == ":" {
		if list := m.candidates(m.prompt.line.Text()); len(list) > 0 {
			line += m.theme.Dim.Render("  tab: " + ui.Clean(strings.Join(list[:min(len(list), 12)], " ")))
		}
	}
	return ui.Lines([]string{line}, m.w, 1)
}

// footer lists the most important keys.
func (m *Model) footer() string {
	var b strings.Builder
	for _, k := range append(append([]key.Binding{}, m.top().screen.Keys()...), frameKeys()...) {
		h := k.Help()
		short, _, _ := strings.Cut(h.Desc, ";")
		if m.state.ReadOnly && short == "destroy" {
			continue
		}
		next := " " + h.Key + " " + short + " "
		if ui.Width(b.String())+ui.Width(next) > m.w {
			break
		}
		b.WriteString(next)
	}
	return m.theme.Dim.Render(ui.Fit(b.String(), m.w))
}

// helpView lists all keys and commands.
func (m *Model) helpView(p ui.Page) string {
	var left, right []string
	add := func(list *[]string, title string, keys []key.Binding) {
		*list = append(*list, p.Head.Render(title))
		for _, k := range keys {
			*list = append(*list, "  "+ui.Fit(k.Help().Key, 9)+" "+k.Help().Desc)
		}
		*list = append(*list, "")
	}
	add(&left, "this screen", m.top().screen.Keys())
	add(&right, "every table", tableKeys())
	add(&right, "everywhere", frameKeys())
	left = append(left, p.Head.Render("commands"))
	for _, k := range kinds() {
		arg := map[string]string{"project": " PROJECT", "version": " PROJECT/VERSION"}[k.needs]
		left = append(left, "  :"+ui.Fit(k.name+arg, 26)+k.help)
	}
	left = append(left, "  :"+ui.Fit("ctx NAME", 26)+"another server of svcctl context list")
	if p.W < helpWidth {
		return m.helpPage(append(append(left, ""), right...), p)
	}
	lines := make([]string, max(len(left), len(right)))
	for i := range lines {
		if i < len(left) {
			lines[i] = left[i]
		}
		lines[i] = ui.Fit(lines[i], p.W/2)
		if i < len(right) {
			lines[i] += right[i]
		}
	}
	return m.helpPage(lines, p)
}

// helpPage draws the lines from the first one on that is shown.
func (m *Model) helpPage(lines []string, p ui.Page) string {
	m.helpAt = max(min(m.helpAt, len(lines)-p.H), 0)
	return ui.Lines(lines[m.helpAt:], p.W, p.H)
}
