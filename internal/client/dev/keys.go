package dev

import (
	"context"
	"slices"
	"strings"
)

// explained are the keys with what they do.
func (s *Session) explained() string {
	keys := [][2]string{
		{"o", "open the address in a browser"},
		{"r", "go back to an earlier save: its code with its data, or its data alone"},
		{"x", "restart: the same code and data in a new process"},
		{"t", "run the scheduled handler now, with a cron of the project file"},
		{"s", "send a message to a queue of the worker"},
		{"u", "show an address that others can open, on a shared server"},
		{"l", "show fewer lines: all, errors only, none"},
		{"c", "clear the terminal"},
		{"h", "show this list"},
		{"q", "quit; Ctrl-C does, too. The data stays for the next start"},
	}
	if s.cfg.Parent != "" {
		keys = slices.Insert(keys, 2, [2]string{"b", "begin again with the data that " + s.cfg.Parent + " has now"})
	}
	if len(s.workers) > 1 {
		keys = append(keys, [2]string{"w", "use the keys for the next worker (now " + s.focus.project + ")"})
	}
	var text strings.Builder
	text.WriteString("keys:")
	for _, k := range keys {
		text.WriteString("\n  " + k[0] + "  " + k[1])
	}
	return text.String()
}

// noKey is what is said once about keys without a meaning.
const noKey = "this key does nothing; h explains the keys"

// help names the keys, in lines that are not longer than the terminal is wide.
func (s *Session) help() string {
	keys := []string{
		"o open", "r rewind", "x restart", "t run cron", "s send to queue", "u public URL", "l log level", "c clear", "h help", "q quit",
	}
	if s.cfg.Parent != "" {
		keys = slices.Insert(keys, 2, "b branch data again")
	}
	if len(s.workers) > 1 {
		keys = append(keys, "w next worker (now "+s.focus.project+")")
	}
	return wrapped("keys: ", keys, s.terminal.width())
}

// wrapped puts words into lines of at most width characters, below each other.
func wrapped(lead string, words []string, width int) string {
	const gap = "   "
	text, length := lead+words[0], len(lead)+len(words[0])
	for _, word := range words[1:] {
		if length += len(gap) + len(word); width > 0 && length > width {
			text += "\n" + strings.Repeat(" ", len(lead)) + word
			length = len(lead) + len(word)
			continue
		}
		text += gap + word
	}
	return text
}

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
		if err := s.cfg.Open(ctx, s.focus.url()); err != nil {
			s.out.note("%v", err)
		}
	case 'c':
		s.out.clear()
		s.banners(s.help())
	case 'l':
		s.out.line("log level: %s", s.out.nextLevel())
	case 'b':
		return false, s.focus.branchAgain(ctx)
	case 'x':
		return false, s.focus.restart(ctx)
	case 't':
		s.focus.askCron(ctx)
	case 's':
		s.focus.askMessage(ctx)
	case 'u':
		s.focus.public(ctx)
	case 'r':
		s.focus.askRewind()
	case 'w':
		s.nextWorker()
	case 'h', '?':
		s.out.write(s.explained())
	case enter, '\r', ' ', escape, redraw: // lines between outputs, and keys of habit
	default:
		s.out.once(noKey)
	}
	return false, nil
}

// nextWorker changes the worker that the keys are for.
func (s *Session) nextWorker() {
	s.focus = s.workers[(slices.Index(s.workers, s.focus)+1)%len(s.workers)]
	s.out.line("keys are for %s", s.focus.project)
}
