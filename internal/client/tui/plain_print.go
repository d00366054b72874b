package tui

import (
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

// print says what is new: the state of the connection, the screen after a line was
// typed, the end of an action, and the entries of a followed log.
func (r *reader) print() {
	if away := r.m.linked && !r.m.state.Link.Up; away != r.away {
		if r.away = away; away {
			r.say(ui.Spoken(r.m.banner()))
		} else {
			r.say("The server answers again.")
		}
	}
	if r.due && (r.settled() || r.m.help || r.away) {
		r.due = false
		r.screen()
	} else if !r.due {
		r.tail()
	}
	if r.m.note != r.note {
		if r.note = r.m.note; r.note != "" {
			r.say(r.note)
		}
	}
}

// screen prints the whole screen, or the question or the keys before it.
func (r *reader) screen() {
	lines, where := r.lines(), ui.Spoken(r.m.crumbs())
	if few := r.changed(lines); where == r.where && len(few) > 0 && len(few) < 3 {
		r.say(few...)
	} else {
		r.say(append([]string{"", where}, lines...)...)
	}
	r.printed, r.where, r.m.help = lines, where, false
}

// changed returns the lines that were not printed, without the row that was selected.
func (r *reader) changed(lines []string) (few []string) {
	for _, l := range lines {
		if !slices.Contains(r.printed, l) && !slices.Contains(r.printed, "selected "+l) {
			few = append(few, l)
		}
	}
	return few
}

// lines returns the lines of the screen that say something.
func (r *reader) lines() []string {
	p := ui.Page{Theme: r.m.theme, W: plainWidth, H: plainHeight, Plain: true}
	if r.tails() {
		p.H = plainLog
	}
	var body string
	switch {
	case r.m.dialog != nil:
		body = r.m.dialog.view(r.m.state, p)
	case r.m.help:
		p.W = helpWidth - 1 // one column
		body = r.m.helpView(p)
	default:
		body = r.m.top().screen.View(r.m.state, p)
	}
	var lines []string
	for l := range strings.SplitSeq(body, "\n") {
		if l = ui.Spoken(l); l != "" {
			lines = append(lines, l)
		}
	}
	return lines
}

// tails reports whether the screen is a log.
func (r *reader) tails() bool {
	s, ok := r.m.top().screen.(ui.Tailing)
	return ok && s.Tails()
}

// tail prints the entries of a log that came since.
func (r *reader) tail() {
	if !r.tails() || r.m.dialog != nil {
		return
	}
	lines := r.lines()
	if len(lines) == 0 || slices.Equal(lines, r.printed) {
		return
	}
	for _, l := range lines[1:] { // the first one counts the entries
		if !slices.Contains(r.printed, l) {
			r.say(l)
		}
	}
	r.printed = lines
}
