package dev

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/client/front"
	"github.com/svcctl/svcctl/pkg/api"
)

// printer writes lines for people. It is safe for concurrent use.
type printer struct {
	*screen

	name string // of the worker that lines are about; "" if there is one alone
}

// screen is what several printers write to.
type screen struct {
	mu    sync.Mutex
	w     io.Writer
	color bool
	level level
	told  map[string]bool
	asks  bool     // lines wait for the end of a prompt
	late  []string // those lines
}

// level says which requests and log lines are written.
type level int

// The levels, in the order of the key.
const (
	levelAll level = iota
	levelErrors
	levelNone
)

// maxLate bounds the lines that wait for the end of a prompt.
const maxLate = 1000

// nextLevel changes the level and returns its name.
func (p *printer) nextLevel() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.level = (p.level + 1) % (levelNone + 1)
	return []string{"all requests and log lines", "errors only", "no requests and log lines"}[p.level]
}

// writes reports whether a request or log line is written.
func (p *printer) writes(isError bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.level == levelAll || p.level == levelErrors && isError
}

// clear clears the terminal.
func (p *printer) clear() { p.raw("\x1b[2J\x1b[H") }

func (p *printer) raw(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprint(p.w, text) // as write
}

// ask writes a prompt. Lines wait until answered.
func (p *printer) ask(text string) {
	p.raw(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asks = true
}

// echo writes what is typed.
func (p *printer) echo(text string) { p.raw(text) }

// answered ends a prompt.
func (p *printer) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range append([]string{""}, p.late...) {
		_, _ = fmt.Fprintln(p.w, line) // as write
	}
	p.asks, p.late = false, nil
}

func newPrinter(w io.Writer, color bool) *printer {
	return &printer{screen: &screen{w: w, color: color, told: map[string]bool{}}}
}

// named returns a printer of the same screen for the lines of one worker.
func (p *printer) named(name string) *printer { return &printer{p.screen, name} }

// The colors of lines.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	gray   = "90"
)

func (p *printer) paint(color, text string) string {
	if !p.color {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

func (p *printer) write(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asks {
		p.late = append(p.late[max(0, len(p.late)+1-maxLate):], text)
		return
	}
	_, _ = fmt.Fprintln(p.w, text) // a terminal that is gone reads nothing
}

// line writes a line with the time of day.
func (p *printer) line(format string, args ...any) {
	head := time.Now().Format(time.TimeOnly)
	if p.name != "" {
		head += "  " + p.name
	}
	p.write(p.paint(gray, head) + "  " + fmt.Sprintf(format, args...))
}

// note writes something that needs attention.
func (p *printer) note(format string, args ...any) {
	p.line("%s", p.paint(yellow, fmt.Sprintf(format, args...)))
}

// once writes a note, unless it was written before.
func (p *printer) once(text string) {
	p.mu.Lock()
	told := p.told[text]
	p.told[text] = true
	p.mu.Unlock()
	if !told {
		p.note("%s", text)
	}
}

// banner names the project and its address, and the data unless it is "".
func (p *printer) banner(project, address, data string) {
	text := fmt.Sprintf("%s dev   %s", project, p.paint(green, address))
	if data != "" {
		text += "   data: " + data
	}
	p.write(text)
}

// resumed says that the last save of the session before serves.
func (p *printer) resumed(s Save, took time.Duration) {
	p.line("save %d  unchanged since %s, ready %s", s.N, s.At.Format("2 Jan 15:04:05"), ms(took))
}

// saved says that a save serves, and what is special about it.
func (p *printer) saved(s Save, a attempt, special string) {
	what := names(s.Changed)
	what = cmp.Or(what, "first build")
	times := "ready " + ms(time.Since(a.began))
	if a.took > 0 {
		times = "build " + ms(a.took) + ", " + times
	}
	p.line("%s  %s  %s%s", p.paint(green, fmt.Sprintf("save %d", s.N)), what, times, special)
}

// prepared is what the deploy did to the data: seeds and migrations.
func prepared(v api.Version) string {
	for _, step := range v.Timeline {
		if step.Step == "preparing" && step.Detail != "" && step.Detail != "no migrations to apply" {
			return "  (" + strings.TrimSuffix(step.Detail, "; no migrations to apply") + ")"
		}
	}
	return ""
}

// problem says why a save is not served, and what serves instead.
func (p *printer) problem(problem *front.Problem, current *Save, serving bool) {
	text := p.paint(red, problem.Title)
	if problem.Detail != "" {
		text += "\n" + indent(problem.Detail)
	}
	p.line("%s", text)
	if serving && current != nil {
		p.line("still serving save %d of %s", current.N, current.At.Format(time.TimeOnly))
	} else {
		p.line("waiting for a save that works")
	}
}

// request writes one finished request.
func (p *printer) request(r front.Request) {
	if !p.writes(r.Status >= 400) {
		return
	}
	color := gray
	status := fmt.Sprint(r.Status)
	switch {
	case r.Status == 0:
		status = "canceled"
	case r.Status >= 500:
		color = red
	case r.Status >= 400:
		color = yellow
	}
	p.line("%s %s %s %s", r.Method, clean(r.Path), p.paint(color, status), ms(r.Took))
}

// maxNames is how many changed files a line names.
const maxNames = 3

func names(files []string) string {
	if len(files) > maxNames {
		return fmt.Sprintf("%s and %d more", strings.Join(files[:maxNames], ", "), len(files)-maxNames)
	}
	return strings.Join(files, ", ")
}

// ms is a duration as people read it.
func ms(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	default:
		return d.Round(time.Second).String()
	}
}
