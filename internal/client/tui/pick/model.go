package pick

import (
	"fmt"
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

const (
	maxRows = 12 // of the list that are shown
	around  = 2  // lines around the list
)

// Item is one of the list. Both texts are free of control characters.
type Item struct {
	Name   string
	Detail string
}

// Model is the list with what was typed.
type Model struct {
	title       string
	items       []Item
	shown       []Item // those that match
	filter      string
	at          int // in shown
	top         int // first of shown that is drawn
	width, rows int
	ended       bool
	chosen      string
	interrupted bool
}

// New makes a model whose first item is marked.
func New(title string, items []Item) *Model {
	return &Model{title: title, items: items, shown: items, width: 80, rows: maxRows}
}

// Chosen returns the name of the item, or "" if the person chose none.
func (m *Model) Chosen() string { return m.chosen }

// Interrupted reports whether Ctrl-C ended the choice.
func (m *Model) Interrupted() bool { return m.interrupted }

// Init does nothing.
func (*Model) Init() tea.Cmd { return nil }

// Update takes keys and the size of the terminal.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.rows = msg.Width, max(1, min(maxRows, msg.Height-around))
	case tea.KeyMsg:
		m.key(msg)
	}
	m.at = max(0, min(m.at, len(m.shown)-1))
	m.top = max(0, min(m.top, m.at), m.at-m.rows+1)
	if m.ended {
		return m, tea.Quit
	}
	return m, nil
}

func (m *Model) key(k tea.KeyMsg) {
	switch k.String() {
	case "enter", "ctrl+j":
		if len(m.shown) > 0 {
			m.ended, m.chosen = true, m.shown[m.at].Name
		}
	case "esc":
		m.ended = true
	case "ctrl+c":
		m.ended, m.interrupted = true, true
	case "up", "ctrl+p", "shift+tab":
		m.at--
	case "down", "ctrl+n", "tab":
		m.at++
	case "pgup":
		m.at -= m.rows
	case "pgdown":
		m.at += m.rows
	case "home":
		m.at = 0
	case "end":
		m.at = len(m.shown) - 1
	default:
		m.edit(k)
	}
}

// edit changes the filter.
func (m *Model) edit(k tea.KeyMsg) {
	switch {
	case k.String() == "backspace" && m.filter != "":
		text := []rune(m.filter)
		m.filter = string(text[:len(text)-1])
	case k.String() == "ctrl+u":
		m.filter = ""
	case k.Type == tea.KeyRunes || k.Type == tea.KeySpace:
		m.filter += strings.Map(printable, string(k.Runes))
	default:
		return
	}
	m.at, m.shown = 0, nil
	for _, item := range m.items {
		if matches(item, m.filter) {
			m.shown = append(m.shown, item)
		}
	}
}

func printable(r rune) rune {
	if unicode.IsControl(r) {
		return -1
	}
	return r
}

// matches reports whether an item has all words of a filter.
func matches(item Item, filter string) bool {
	text := strings.ToLower(item.Name + " " + item.Detail)
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// View draws nothing once a choice was made.
func (m *Model) View() string {
	if m.ended {
		return ""
	}
	lines := []string{m.title + ": " + m.filter + "_"}
	names := 0
	for _, item := range m.items {
		names = max(names, ansi.StringWidth(item.Name))
	}
	for i := m.top; i < min(len(m.shown), m.top+m.rows); i++ {
		mark := "  "
		if i == m.at {
			mark = "> "
		}
		item := m.shown[i]
		gap := strings.Repeat(" ", names-ansi.StringWidth(item.Name)+2)
		lines = append(lines, strings.TrimRight(mark+item.Name+gap+item.Detail, " "))
	}
	lines = append(lines, fmt.Sprintf("%d of %d; type to filter, up and down, Enter, Esc for none", len(m.shown), len(m.items)))
	for i, l := range lines {
		lines[i] = ansi.Truncate(l, max(1, m.width-1), "…")
	}
	return strings.Join(lines, "\n")
}
