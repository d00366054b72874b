package ui

import (
	"slices"
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
)

// Line is a line of text that is being edited.
type Line struct {
	text []rune
	at   int
}

// NewLine returns a line with a text and the cursor at its end.
func NewLine(text string) Line { return Line{[]rune(text), len([]rune(text))} }

// Text returns the text.
func (l *Line) Text() string { return string(l.text) }

// Update takes a key; false means that the line has no use for it.
func (l *Line) Update(k tea.KeyMsg) bool {
	switch k.String() {
	case "left", "ctrl+b":
		l.at = max(l.at-1, 0)
	case "right", "ctrl+f":
		l.at = min(l.at+1, len(l.text))
	case "home", "ctrl+a":
		l.at = 0
	case "end", "ctrl+e":
		l.at = len(l.text)
	case "backspace", "ctrl+h":
		l.remove(max(l.at-1, 0), l.at)
	case "delete":
		l.remove(l.at, min(l.at+1, len(l.text)))
	case "ctrl+u":
		l.remove(0, l.at)
	case "ctrl+k":
		l.remove(l.at, len(l.text))
	case "ctrl+w":
		l.remove(l.wordBefore(), l.at)
	default:
		if k.Type != tea.KeyRunes && k.Type != tea.KeySpace {
			return false
		}
		typed := slices.DeleteFunc(slices.Clone(k.Runes), unicode.IsControl)
		l.text = slices.Insert(l.text, l.at, typed...)
		l.at += len(typed)
	}
	return true
}

func (l *Line) wordBefore() int {
	text := strings.TrimRightFunc(string(l.text[:l.at]), unicode.IsSpace)
	return len([]rune(text[:strings.LastIndexFunc(text, unicode.IsSpace)+1]))
}

func (l *Line) remove(from, to int) {
	l.text = slices.Delete(l.text, from, to)
	l.at = from
}

// View draws the line with its cursor, as much as w columns hold.
func (l *Line) View(t *Theme, w int) string {
	before, under, after := string(l.text[:l.at]), " ", ""
	if l.at < len(l.text) {
		under, after = string(l.text[l.at]), string(l.text[l.at+1:])
	}
	for Width(before) > w-2 && before != "" { // the cursor stays visible
		before = string([]rune(before)[1:])
	}
	return before + t.Cursor.Render(under) + after
}
