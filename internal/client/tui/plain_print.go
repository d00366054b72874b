package tui

import (
	"math"
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
	r.say(r.notes...) // before the screen: what a line did comes first
	r.notes = nil
	if r.due && (r.settled() || r.m.help || r.away) {
		r.due = false
		r.screen()
	} else if !r.due {
		r.tail()
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
	if s, ok := r.tails(); ok {
		_, r.logged = s.Tail(r.m.state, r.page(), math.MaxInt)
	}
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
	p := r.page()
	if _, ok := r.tails(); ok {
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
	return spoken(strings.Split(body, "\n"))
}

// page is that of every screen.
func (r *reader) page() ui.Page {
	return ui.Page{Theme: r.m.theme, W: plainWidth, H: plainHeight, Plain: true}
}

// spoken returns the lines that say something.
func spoken(all []string) (lines []string) {
	for _, l := range all {
		if l = ui.Spoken(l); l != "" {
			lines = append(lines, l)
		}
	}
	return lines
}

// tails returns the screen if it shows a log.
func (r *reader) tails() (ui.Tailing, bool) {
	s, ok := r.m.top().screen.(ui.Tailing)
	return s, ok && s.Tails()
}

// tail prints the entries of a log that came since, however many.
func (r *reader) tail() {
	s, ok := r.tails()
	if !ok || r.m.dialog != nil || r.where != ui.Spoken(r.m.crumbs()) {
		return
	}
	lines, all := s.Tail(r.m.state, r.page(), r.logged)
	r.logged = all
	r.say(spoken(lines)...)
}
