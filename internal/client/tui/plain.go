package tui

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

const (
	plainWidth  = 400 // columns above which a line is cut
	plainHeight = 400 // lines of a screen
	plainLog    = 30  // lines of a followed log
)

// reader is the interface for a screen reader: lines are read and printed, and nothing
// is drawn over. It runs the same Model.
type reader struct {
	m       *Model
	out     io.Writer
	msgs    chan tea.Msg
	due     bool     // a screen is to be printed once its answers are there
	notes   []string // that were not said yet
	away    bool     // the server does not answer
	where   string   // the place of the screen that was printed last
	printed []string // its lines
	logged  int      // entries of its log that came until then
}

// newReader makes the reader of a Model, which it owns.
func newReader(m *Model, out io.Writer) *reader {
	r := &reader{m: m, out: out, msgs: make(chan tea.Msg)}
	m.heard = func(note string) { r.notes = append(r.notes, note) }
	return r
}

// say prints lines.
func (r *reader) say(lines ...string) {
	for _, l := range lines {
		fmt.Fprintln(r.out, l)
	}
}

// run reads lines until the end of them, of ctx, or a command that ends the interface.
func (r *reader) run(ctx context.Context, in io.Reader) {
	lines := make(chan string)
	go readLines(ctx, in, lines)
	r.say("svcctl on "+r.m.state.Server, "Type a command, for example projects, or versions PROJECT, or a key. ? lists them; an empty line repeats the screen.")
	r.due = true
	r.start(ctx, r.m.Init())
	for {
		var quit bool
		select {
		case <-ctx.Done():
			return
		case line, ok := <-lines: // one that was typed ahead finds what it is about
			if quit = r.wait(ctx) || !ok; !quit {
				r.typed(ctx, line)
			}
		case msg := <-r.msgs:
			quit = r.take(ctx, msg)
		}
		if r.print(); quit {
			return
		}
	}
}

// wait handles messages until the screen is complete, and prints it.
func (r *reader) wait(ctx context.Context) (quit bool) {
	for !r.m.linked || r.m.state.Link.Up && !r.settled() {
		select {
		case <-ctx.Done():
			return true
		case msg := <-r.msgs:
			if r.take(ctx, msg) {
				return true
			}
		}
	}
	r.print()
	return false
}

func readLines(ctx context.Context, in io.Reader, to chan<- string) {
	defer close(to)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		select {
		case to <- lines.Text():
		case <-ctx.Done():
			return
		}
	}
}

// start runs a command of the Model.
func (r *reader) start(ctx context.Context, cmd tea.Cmd) {
	if cmd != nil {
		go func() { r.send(ctx, cmd()) }()
	}
}

func (r *reader) send(ctx context.Context, msg tea.Msg) {
	select {
	case r.msgs <- msg:
	case <-ctx.Done():
	}
}

// take passes a message to the Model; true ends the interface.
func (r *reader) take(ctx context.Context, msg tea.Msg) bool {
	switch msg := msg.(type) {
	case nil:
		return false
	case tea.QuitMsg:
		return true
	case tea.BatchMsg:
		for _, cmd := range msg {
			r.start(ctx, cmd)
		}
		return false
	}
	if d, ok := msg.(state.Done); ok && d.Err == nil { // its events may come later than its end
		r.m.state.ExpireAll(r.m.top().screen.Needs())
	}
	asked := r.m.dialog
	_, cmd := r.m.Update(msg)
	r.due = r.due || r.m.dialog != nil && asked == nil // also a question that no line led to
	r.start(ctx, cmd)
	return false
}

// settled reports whether everything that the screen shows was answered.
func (r *reader) settled() bool {
	if !r.m.linked {
		return false
	}
	needs := r.m.top().screen.Needs()
	if r.m.dialog != nil {
		needs = slices.Concat(needs, r.m.dialog.needs)
	}
	return len(r.m.state.Running) == 0 && !slices.ContainsFunc(needs, func(n state.Need) bool {
		return !r.m.state.Answered(n)
	})
}

// typed takes a line: the answer to a dialog, a row, keys, or a command.
func (r *reader) typed(ctx context.Context, line string) {
	r.due = true
	words := strings.Fields(line)
	row, isRow := strings.CutPrefix(strings.TrimSpace(line), "#")
	switch {
	case r.m.dialog != nil:
		r.answer(ctx, line)
	case isRow:
		r.choose(row)
	case strings.HasPrefix(line, "/"):
		r.keys(ctx, typedRune('/'), tea.KeyMsg{Type: tea.KeyCtrlU})
		r.text(ctx, line[1:])
	case slices.ContainsFunc(words, func(w string) bool { return keyOf(w) == nil }):
		r.keys(ctx, typedRune(':'))
		r.text(ctx, strings.TrimPrefix(line, ":"))
	default:
		for _, w := range words {
			r.keys(ctx, *keyOf(w))
		}
	}
}

// answer answers a dialog. An empty line takes the text that it begins with.
func (r *reader) answer(ctx context.Context, line string) {
	switch word := strings.TrimSpace(line); {
	case word == "esc":
		r.keys(ctx, tea.KeyMsg{Type: tea.KeyEsc})
	case r.m.dialog.text() && word == "":
		r.keys(ctx, tea.KeyMsg{Type: tea.KeyEnter})
	case r.m.dialog.text():
		r.keys(ctx, tea.KeyMsg{Type: tea.KeyCtrlU})
		r.text(ctx, line)
	case r.m.dialog.ways != nil && word != "n" && word != "no":
		if k := keyOf(word); k != nil {
			r.keys(ctx, *k)
		}
	case word == "y" || word == "yes":
		r.keys(ctx, typedRune('y'))
	case word == "n" || word == "no":
		r.keys(ctx, typedRune('n'))
	default:
		r.say("Answer y or n.")
	}
}

// keys presses keys.
func (r *reader) keys(ctx context.Context, keys ...tea.KeyMsg) {
	for _, k := range keys {
		r.take(ctx, k)
	}
}

// text types a text and enter.
func (r *reader) text(ctx context.Context, text string) {
	for _, c := range text {
		r.keys(ctx, typedRune(c))
	}
	r.keys(ctx, tea.KeyMsg{Type: tea.KeyEnter})
}

func typedRune(c rune) tea.KeyMsg {
	if c == ' ' {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{c}}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{c}}
}

// keyOf returns the key of a word; nil for a word that is none.
func keyOf(word string) *tea.KeyMsg {
	named := map[string]tea.KeyMsg{
		"enter": {Type: tea.KeyEnter}, "esc": {Type: tea.KeyEsc}, "up": {Type: tea.KeyUp}, "down": {Type: tea.KeyDown}, "mark": typedRune(' '),
	}
	if k, ok := named[word]; ok {
		return &k
	}
	if c := []rune(word); len(c) == 1 {
		k := typedRune(c[0])
		return &k
	}
	return nil
}

// choose moves the cursor to a row.
func (r *reader) choose(number string) {
	n, err := strconv.Atoi(number)
	s, ok := r.m.top().screen.(ui.Numbered)
	if err != nil || !ok || !s.Choose(n, r.m.state) {
		r.m.fail("there is no row " + number)
	}
}
