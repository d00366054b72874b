package logs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// Screen is the screen. The newest lines are shown until the person scrolls up.
type Screen struct {
	need    state.Need
	filter  string
	request string // shows only this request
	level   int    // of levels
	wrap    bool
	unfold  bool // JSON over several lines
	marks   []mark
	up      int // entries between the last shown one and the newest; 0 follows
	height  int // of the last view
}

// New makes the screen of a version's log, of the production's without a version, or of the
// server's own without a project.
func New(p ui.Place) *Screen {
	return &Screen{need: state.Need{Kind: state.Logs, Project: p.Project, Version: p.Version}, request: p.Arg}
}

func levels() []string { return []string{"debug", "info", "warn", "error"} }

// Needs implements ui.Screen.
func (c *Screen) Needs() []state.Need { return []state.Need{c.need} }

// Filter implements ui.Filtered.
func (c *Screen) Filter() string { return c.filter + c.request }

// SetFilter implements ui.Filtered.
func (c *Screen) SetFilter(text string) { c.filter, c.request, c.up = text, "", 0 }

func (c *Screen) shown(s *state.State) []api.LogLine {
	all := c.withMarks(s.LogLines(c.need))
	if c.filter == "" && c.request == "" && c.level == 0 {
		return all
	}
	wanted := c.wanted()
	return slices.DeleteFunc(slices.Clone(all), func(l api.LogLine) bool { return l.Level != markLevel && !wanted(l) })
}

// wanted returns whether an entry is shown.
func (c *Screen) wanted() func(api.LogLine) bool {
	words := strings.Fields(strings.ToLower(c.filter))
	return func(l api.LogLine) bool {
		return (c.request == "" || l.RequestID == c.request) && rank(l.Level) >= c.level && matches(l, words)
	}
}

func rank(level string) int {
	switch level {
	case "debug":
		return 0
	case "warn":
		return 2
	case "error":
		return 3
	}
	return 1
}

// View implements ui.Screen.
func (c *Screen) View(s *state.State, p ui.Page) string {
	list := c.shown(s)
	c.height = max(p.H-1, 1)
	c.up = max(min(c.up, len(list)-c.height), 0)
	var lines []string
	for i := len(list) - 1 - c.up; i >= 0 && len(lines) < c.height; i-- { // from the end, and turned
		entry := c.entry(list[i], p)
		slices.Reverse(entry)
		lines = append(lines, entry...)
	}
	lines = lines[:min(len(lines), c.height)]
	slices.Reverse(lines)
	if len(lines) == 0 {
		_, _, err := state.Get[any](s, c.need)
		lines = []string{p.Dim.Render("  " + ui.Empty(err == nil, err, "no entry yet; new ones appear by themselves"))}
	}
	return ui.Lines(append([]string{c.head(len(list), p)}, lines...), p.W, p.H)
}

// head says what is shown.
func (c *Screen) head(n int, p ui.Page) string {
	text := " " + entries(n-len(c.marks))
	switch {
	case c.need.Project == "":
		text += " of the server"
	case c.need.Version == "":
		text += " of the production"
	}
	if c.level > 0 {
		text += "  level " + levels()[c.level] + " and above"
	}
	if c.request != "" {
		text += "  request " + c.request + " (esc shows all)"
	}
	if c.filter != "" {
		text += "  filter " + c.filter
	}
	if c.up > 0 {
		return p.Warn.Render(ui.Fit(fmt.Sprintf("%s  paused, %d below: f follows", text, c.up), p.W))
	}
	return p.Head.Render(ui.Fit(text+"  following", p.W))
}

// entry draws one entry: its first line, and the rest indented.
func (c *Screen) entry(l api.LogLine, p ui.Page) []string {
	if l.Level == markLevel {
		return []string{drawMark(l, p)}
	}
	message := l.Message
	if c.unfold {
		message = unfolded(message)
	}
	style := level(p.Theme, l.Level)
	id := l.RequestID[:min(len(l.RequestID), 8)]
	prefix := p.Dim.Render(l.Time.UTC().Format("15:04:05.000")) + " " + style.Render(ui.Fit(l.Level, 5)) + " " + p.Dim.Render(ui.Fit(id, 8)) + " "
	text := strings.Split(message, "\n")
	width := max(p.W-28, 10)
	var out []string
	for i, part := range text {
		part = ui.Clean(part)
		parts := []string{part}
		if c.wrap {
			parts = ui.Wrap(part, width)
		}
		for j, piece := range parts {
			if i > 0 || j > 0 {
				prefix = strings.Repeat(" ", 28)
			}
			out = append(out, prefix+style.Render(piece))
		}
	}
	return out
}

func level(t *ui.Theme, name string) lipgloss.Style {
	switch name {
	case "error":
		return t.Bad
	case "warn":
		return t.Warn
	case "debug":
		return t.Dim
	}
	return t.Plain
}

// Update implements ui.Screen.
func (c *Screen) Update(k tea.KeyMsg, s *state.State) ui.Intent {
	n := len(c.shown(s))
	switch k.String() {
	case "up", "k":
		c.scroll(1, n)
	case "down", "j":
		c.scroll(-1, n)
	case "pgup", "b", "ctrl+b":
		c.scroll(c.height, n)
	case "pgdown", "ctrl+f":
		c.scroll(-c.height, n)
	case "home", "g":
		c.scroll(n, n)
	case "end", "G", "f":
		c.up = 0
	case "w":
		c.wrap = !c.wrap
	case "J":
		c.unfold = !c.unfold
	case "m":
		c.mark(s)
	case "S":
		return c.save(s)
	case "L":
		c.level, c.up = (c.level+1)%len(levels()), 0
	case "n", "N":
		c.nextError(s, k.String() == "n")
	case "enter":
		if l, ok := c.last(s); ok && l.RequestID != "" {
			c.request, c.filter, c.up = l.RequestID, "", 0
		}
	case "y":
		if l, ok := c.last(s); ok {
			return ui.Copy{Text: l.Message}
		}
	}
	return nil
}

func (c *Screen) scroll(by, n int) { c.up = max(min(c.up+by, n-c.height), 0) }

// last returns the lowest entry on the screen.
func (c *Screen) last(s *state.State) (api.LogLine, bool) {
	list := c.shown(s)
	if i := len(list) - 1 - c.up; i >= 0 && i < len(list) {
		return list[i], true
	}
	return api.LogLine{}, false
}

// nextError moves to the error before (older), or after the lowest entry.
func (c *Screen) nextError(s *state.State, older bool) {
	list := c.shown(s)
	step := 1
	if older {
		step = -1
	}
	for i := len(list) - 1 - c.up + step; i >= 0 && i < len(list); i += step {
		if list[i].Level == "error" {
			c.up = len(list) - 1 - i
			return
		}
	}
}

// Keys implements ui.Screen.
func (*Screen) Keys() []key.Binding {
	return []key.Binding{
		ui.Key("follow", "f"), ui.Key("wrap", "w"), ui.Key("level", "L"), ui.Key("request; shows all entries of the lowest one's request", "enter"),
		ui.Key("error; the one before, N the one after", "n"), ui.Key("copy; the lowest entry", "y"),
		ui.Key("mark; draws a line below the newest entry", "m"), ui.Key("save; the shown entries in a file", "S"), ui.Key("JSON over several lines", "J"),
	}
}

// Click implements ui.Clicked.
func (*Screen) Click(int, *state.State) {}

// Wheel implements ui.Clicked.
func (c *Screen) Wheel(by int, s *state.State) { c.scroll(-by, len(c.shown(s))) }
