package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"

	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

const (
	// slowAnswer is how long the first answer may take before the interface says so.
	slowAnswer = 5 * time.Second

	headLines = 2   // above the screen
	footLines = 2   // below it, with a message of one line
	noteLines = 4   // of a message at most
	helpWidth = 110 // columns from which on the keys stand in two columns
)

// View implements tea.Model.
func (m *Model) View() string {
	message := m.message()
	p := ui.Page{Theme: m.theme, W: m.w, H: max(m.h-headLines-footLines-len(message)+1, 1)}
	var body string
	switch {
	case m.dialog != nil:
		body = m.dialog.view(m.state, p)
	case m.help:
		body = m.helpView(p)
	default:
		body = m.top().screen.View(m.state, p)
	}
	lines := append([]string{m.header(), m.banner(), body}, message...)
	return strings.Join(append(lines, m.footer()), "\n")
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
	return strings.Join(append(parts, p.Screen), " › ") + m.settings(p.Project) + m.narrowed()
}

// settings says what a project refuses; "" for nothing.
func (m *Model) settings(project string) (text string) {
	p, _ := m.state.FindProject(project)
	if p.ReadOnly {
		text = "  project read-only"
	}
	if p.Guard {
		text += "  guard"
	}
	return text
}

// narrowed says which part of a screen is shown; "" for all of it.
func (m *Model) narrowed() (text string) {
	if s, ok := m.top().screen.(ui.Narrowed); ok && s.Only() != "" {
		text = "  only " + s.Only()
	}
	if s, ok := m.top().screen.(ui.Filtered); ok && s.Filter() != "" && m.prompt == nil {
		text += "  filter /" + ui.Clean(s.Filter())
	}
	return text
}

// banner says since when what is shown is old; a line without anything else.
func (m *Model) banner() string {
	l := m.state.Link
	switch {
	case !m.linked && m.state.Now.Sub(m.state.Since) >= slowAnswer:
		return m.theme.Bad.Render(ui.Fit(" no answer for "+ui.Age(m.state.Now, m.state.Since)+"; connecting", m.w))
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

// message is the line of the prompt, or the note: in several lines if it is long, as an error
// with its hint is.
func (m *Model) message() []string {
	if m.prompt == nil {
		style := m.theme.Plain
		if m.bad {
			style = m.theme.Bad
		}
		lines := ui.Wrap(m.note, m.w-2)
		lines = lines[:min(len(lines), noteLines)]
		for i, l := range lines {
			lines[i] = style.Render(ui.Fit(" "+l, m.w))
		}
		return lines
	}
	line := " " + m.prompt.sign + m.prompt.line.View(m.theme, m.w-4)
	if m.prompt.sign == ":" {
		if list := m.candidates(m.prompt.line.Text()); len(list) > 0 {
			line += m.theme.Dim.Render("  tab: " + ui.Clean(strings.Join(list[:min(len(list), 12)], " ")))
		}
	}
	return []string{ui.Lines([]string{line}, m.w, 1)}
}

// changing are the keys that change something, which --read-only refuses.
const changing = "|release|promote|roll back|archive|wake|pin|destroy|delete|new project|set a value|set a variable|change|unset|pause or resume|redrive|purge|terminate|cancel a deploy|"

// footer lists the most important keys.
func (m *Model) footer() string {
	switch {
	case m.dialog != nil && m.dialog.text():
		return m.theme.Dim.Render(ui.Fit(" enter confirm  esc cancel", m.w))
	case m.dialog != nil && m.dialog.ways != nil:
		return m.theme.Dim.Render(ui.Fit(" n no  esc cancel", m.w))
	case m.dialog != nil:
		return m.theme.Dim.Render(ui.Fit(" y yes  n no  esc cancel", m.w))
	case m.help:
		return m.theme.Dim.Render(ui.Fit(" : command  1-4 pulse, projects, activity, server  any other key closes", m.w))
	}
	var b strings.Builder
	for _, k := range append(append([]key.Binding{}, m.top().screen.Keys()...), frameKeys()...) {
		h := k.Help()
		short, _, _ := strings.Cut(h.Desc, ";")
		if m.state.ReadOnly && strings.Contains(changing, "|"+short+"|") {
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
	left := keyList("this screen", m.top().screen.Keys(), p)
	right := append(keyList("every table", tableKeys(), p), keyList("everywhere", frameKeys(), p)...)
	commands := []string{p.Head.Render("commands")}
	for _, k := range kinds() {
		arg := map[string]string{"project": " PROJECT", "version": " PROJECT/VERSION"}[k.needs]
		commands = append(commands, "  :"+ui.Fit(k.name+arg, 26)+k.help)
	}
	commands = append(commands, "  :"+ui.Fit("ctx NAME", 26)+"another server of svcctl context list")
	if p.W < helpWidth {
		return m.helpPage(slices.Concat(left, commands, []string{""}, right), p)
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
	return m.helpPage(slices.Concat(lines, commands), p)
}

// keyList is a part of the list of keys.
func keyList(title string, keys []key.Binding, p ui.Page) []string {
	lines := []string{p.Head.Render(title)}
	for _, k := range keys {
		lines = append(lines, "  "+ui.Fit(k.Help().Key, 9)+" "+k.Help().Desc)
	}
	return append(lines, "")
}

// helpPage draws the lines from the first one on that is shown.
func (m *Model) helpPage(lines []string, p ui.Page) string {
	if len(lines) <= p.H {
		m.helpAt = 0
		return ui.Lines(lines, p.W, p.H)
	}
	m.helpAt = min(m.helpAt, len(lines)-p.H+1)
	more := p.Dim.Render(fmt.Sprintf("  j and k scroll: lines %d to %d of %d", m.helpAt+1, m.helpAt+p.H-1, len(lines)))
	return ui.Lines(append(slices.Clone(lines[m.helpAt:m.helpAt+p.H-1]), more), p.W, p.H)
}
