package ui

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/state"
)

// Place is a screen and what it shows.
type Place struct {
	Screen           string // its name, which is also its command
	Project, Version string
	Arg              string // depends on the screen, for example a tab
}

// Screen is one screen. Its methods do no I/O: Update changes the screen only, and
// returns what it wants; View depends on the screen, the state and the page only.
type Screen interface {
	// Needs returns the answers that the screen shows, to be loaded and kept.
	Needs() []state.Need
	// Update takes a key. What it returns is nil, or an intent.
	Update(k tea.KeyMsg, s *state.State) Intent
	View(s *state.State, p Page) string
	// Keys returns the screen's own keys, the most important ones first.
	Keys() []key.Binding
}

// Filtered is a screen with a filter.
type Filtered interface {
	Filter() string
	SetFilter(text string)
}

// Narrowed is a screen that may leave out rows beside its filter: Only names those it shows,
// "" for all.
type Narrowed interface{ Only() string }

// Clicked is a screen that takes clicks and the wheel: y is a line of its page.
type Clicked interface {
	Click(y int, s *state.State)
	Wheel(delta int, s *state.State)
}

// Numbered is a screen with rows that a number chooses, from 1.
type Numbered interface {
	Choose(n int, s *state.State) bool
}

// Tailing is a screen that may show a followed log.
type Tailing interface {
	Tails() bool
	// Tail draws the entries of the log after a number of them, and returns the number of all
	// that came until now. A log that is paused has nothing to draw.
	Tail(s *state.State, p Page, after int) (lines []string, all int)
}

// Intent is something that a screen wants: a Go, an Ask, a Do, a Copy, a Save, a
// Fetch, a Browse or a Note.
type Intent any

// Go opens a place.
type Go struct{ Place Place }

// Ask asks before actions.
type Ask struct {
	Title   string
	Lines   []string // what will happen
	Type    string   // what has to be typed; "" for a y
	Actions []state.Action

	Needs []state.Need                  // of Live
	Live  func(s *state.State) []string // lines that may change while the question is asked; nil for none

	Decide func(s *state.State) Decision // in place of Type and Actions; nil for those
	Ways   []Way                         // in place of a y; nil for that
}

// Decision is what the answer to a question leads to, by what is known when it is given.
type Decision struct {
	Wait    string // why it cannot be given; "" when it can
	Type    string // as in Ask
	Actions []state.Action
	Level   Level // of the lines of Live
}

// Level is how much a question warns.
type Level int

// The levels.
const (
	Normal Level = iota
	Warning
	Danger
)

// Way is one of several answers to a question.
type Way struct {
	Key, Text string
	Then      func(s *state.State) Intent
}

// Input asks for a text.
type Input struct {
	Title, Label string
	Text         string // with which the line begins
	Then         func(text string) Intent
}

// Do starts actions.
type Do struct{ Actions []state.Action }

// Copy copies a text to the clipboard of the terminal.
type Copy struct{ Text string }

// Save writes a text into a new file.
type Save struct{ Path, Text string }

// Fetch downloads into a new file.
type Fetch struct{ Of state.Download }

// Browse opens an address in the browser.
type Browse struct{ URL string }

// Note says something in the last line.
type Note struct{ Text string }

// Key makes a binding.
func Key(help string, keys ...string) key.Binding {
	name := keys[0]
	if name == " " {
		name = "space"
	}
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(name, help))
}
