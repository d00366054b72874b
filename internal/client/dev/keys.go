package dev

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

// help names the keys.
const help = "keys: o open   r rewind   x restart   t run cron   u public URL   l log level   c clear   h help   q quit"

// keys returns the keys that the user presses; nil without a terminal.
func (s *Session) keys() <-chan rune {
	if s.terminal == nil {
		return nil
	}
	return s.terminal.keys
}

// key handles one key. quit reports whether the session ends.
func (s *Session) key(ctx context.Context, r rune) (quit bool, err error) {
	if s.prompt != nil {
		return false, s.typed(ctx, r)
	}
	switch r {
	case 'q':
		return true, nil
	case 'o':
		if err := s.cfg.Open(ctx, s.address.url()); err != nil {
			s.out.note("%v", err)
		}
	case 'c':
		s.out.clear()
		s.out.banner(s.project, s.address.url(), "", help)
	case 'l':
		s.out.line("log level: %s", s.out.nextLevel())
	case 'x':
		return false, s.restart(ctx)
	case 't':
		s.cron(ctx)
	case 'u':
		s.public(ctx)
	case 'r':
		s.askRewind()
	case 'h', '?':
		s.out.write(help)
	}
	return false, nil
}

// restart replaces the version that serves by one of the same bundle, whose process is
// new.
func (s *Session) restart(ctx context.Context) error {
	current := s.state.current()
	if current == nil {
		s.out.note("no version serves yet")
		return nil
	}
	return s.again(ctx, *current, *current, "restart")
}

// again makes a version of the bundle of one save with the data of another.
func (s *Session) again(ctx context.Context, code, data Save, what string) error {
	file, err := copyFile(s.folder.bundle(code.Version), s.folder.path)
	if err != nil {
		s.out.note("%s failed: the bundle of save %d: %v", what, code.N, err)
		return nil
	}
	a := attempt{began: time.Now(), changed: []string{what}, parent: data.Version, env: s.env}
	return s.replace(ctx, a, bundleFile{file, code.Digest})
}

// public shows the address of the version that serves for others: that of the shared
// server, which a save changes.
func (s *Session) public(ctx context.Context) {
	current := s.state.current()
	switch {
	case current == nil:
		s.out.note("no version serves yet")
	case s.server.Own:
		s.out.note("the server runs in this command, for this machine alone; log in to a shared one (svcctl login) to have a public URL for each save")
	default:
		v, err := s.server.Client.Version(ctx, s.project, current.Version)
		if err != nil {
			s.out.note("public URL: %v", err)
			return
		}
		s.out.line("save %d: %s", current.N, clean(v.PreviewURL))
	}
}

// cron runs the scheduled handler once.
func (s *Session) cron(ctx context.Context) {
	current := s.state.current()
	if current == nil {
		s.out.note("no version serves yet")
		return
	}
	run, err := s.server.Client.TriggerScheduled(ctx, s.project, current.Version, api.TriggerScheduled{})
	switch {
	case err != nil:
		s.out.note("cron: %v", err)
	case run.Error != nil:
		s.out.line("cron: %s after %dms: %s", s.out.paint(red, string(run.Outcome)), run.DurationMs, clean(run.Error.Message))
	default:
		s.out.line("cron: %s after %dms", run.Outcome, run.DurationMs)
	}
}

// prompt is an answer that is being typed.
type prompt struct {
	text []rune
}

// askRewind lists the saves and waits for the choice of one. Other lines wait.
func (s *Session) askRewind() {
	if s.state.current() == nil {
		s.out.note("no version serves yet")
		return
	}
	var list strings.Builder
	for i, save := range s.state.Saves {
		mark := " "
		if i == len(s.state.Saves)-1 {
			mark = "*"
		}
		fmt.Fprintf(&list, "%s %4d  %s  %s\n", mark, save.N, save.At.Format("2 Jan 15:04:05"), firstOf(names(save.Changed), "first build"))
	}
	s.prompt = &prompt{}
	s.out.ask(list.String() + "go back to save (NUMBER: code and data, NUMBER d: data alone, Esc: stay): ")
}

// typed handles a key of the prompt.
func (s *Session) typed(ctx context.Context, r rune) error {
	p := s.prompt
	switch {
	case r == escape:
		s.prompt = nil
		s.out.answered()
	case r == backspace && len(p.text) > 0:
		p.text = p.text[:len(p.text)-1]
		s.out.echo("\b \b")
	case r == enter:
		s.prompt = nil
		s.out.answered()
		return s.rewind(ctx, string(p.text))
	case r >= ' ' && r != backspace:
		p.text = append(p.text, r)
		s.out.echo(string(r))
	}
	return nil
}

// rewind goes back to a save: "12" its code and data, "12 d" its data with the code
// that serves. The files stay; the next save builds them.
func (s *Session) rewind(ctx context.Context, answer string) error {
	number, dataAlone := strings.CutSuffix(strings.TrimSpace(answer), "d")
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil {
		s.out.note("%q is not the number of a save", strings.TrimSpace(answer))
		return nil //nolint:nilerr // the note has told the user
	}
	for _, save := range s.state.Saves {
		switch {
		case save.N != n:
		case dataAlone:
			return s.again(ctx, *s.state.current(), save, fmt.Sprintf("data of save %d", n))
		default:
			return s.again(ctx, save, save, fmt.Sprintf("back to save %d", n))
		}
	}
	s.out.note("save %d is not in the list", n)
	return nil
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
