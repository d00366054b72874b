package tui

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"github.com/svcctl/svcctl/internal/client/tui/remote"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// now is the time of every test.
var now = time.Date(2026, 11, 22, 7, 16, 30, 0, time.UTC)

func ago(d time.Duration) api.Time       { return api.At(now.Add(-d)) }
func maybeAgo(d time.Duration) *api.Time { return api.MaybeAt(now.Add(-d)) }

// person drives a Model without a terminal and with a server that is a table.
type person struct {
	t        *testing.T
	m        *Model
	answers  map[state.Need]any
	loads    []state.Need
	done     []state.Action
	failWith error
	failOne  string // the target of the actions that fail; "" for all
	follows  map[state.Need]bool
	copied   string
	saved    map[string]string // text by path
	browsed  string
	fetched  []state.Download
}

// sit returns a person in front of a place, with the server's answers shown.
func sit(t *testing.T, at ui.Place, change ...func(*state.State)) *person {
	t.Helper()
	p := &person{t: t, answers: fixture(), follows: map[state.Need]bool{}, saved: map[string]string{}}
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.Ascii)
	s := state.New(now, "https://deploy.example.com")
	s.Contexts = []string{"laptop", "production"}
	for _, c := range change {
		c(s)
	}
	p.m = New(s, ui.NewTheme(r), p, Desk{
		Browse: func(url string) error { p.browsed = url; return nil },
		Copy:   func(text string) error { p.copied = text; return nil },
		Save: func(path, text string) error {
			if _, ok := p.saved[path]; ok {
				return os.ErrExist
			}
			p.saved[path] = text
			return nil
		},
		Connect: func(name string) (Remote, string, error) {
			if name != "production" {
				return nil, "", errors.New("there is no context " + name)
			}
			return p, "https://other.example.com", nil
		},
	}, at)
	p.m.after = func(time.Duration, func(time.Time) tea.Msg) tea.Cmd { return nil }
	p.size(80, 24)
	p.send(remote.Batch{state.Link{Up: true, At: now}})
	return p
}

// Next, Load, Do, Follow, Unfollow and Close implement Remote.
func (*person) Next() tea.Cmd { return nil }

func (p *person) Load(n state.Need) tea.Cmd {
	p.loads = append(p.loads, n)
	return func() tea.Msg {
		value, ok := p.answers[n]
		if !ok {
			return state.Loaded{Need: n, Err: errors.New("the service does not answer"), At: now}
		}
		return state.Loaded{Need: n, Value: value, At: now}
	}
}

func (p *person) Do(a state.Action) tea.Cmd {
	p.done = append(p.done, a)
	return func() tea.Msg {
		if p.failOne == "" || p.failOne == a.Target() {
			return state.Done{Action: a, Note: a.Target() + " done", Err: p.failWith}
		}
		return state.Done{Action: a, Note: a.Target() + " done"}
	}
}

// Download implements Remote: a file is written once.
func (p *person) Download(d state.Download) tea.Cmd {
	return func() tea.Msg {
		if slices.Contains(p.fetched, d) {
			return state.Downloaded{Download: d, Err: os.ErrExist}
		}
		p.fetched = append(p.fetched, d)
		return state.Downloaded{Download: d, Bytes: 2048}
	}
}

func (p *person) Follow(n state.Need)   { p.follows[n] = true }
func (p *person) Unfollow(n state.Need) { delete(p.follows, n) }
func (*person) Close()                  {}

// send passes a message and the messages of all commands that follow.
func (p *person) send(msg tea.Msg) {
	_, cmd := p.m.Update(msg)
	p.run(cmd)
}

func (p *person) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil, tea.QuitMsg:
	case tea.BatchMsg:
		for _, c := range msg {
			p.run(c)
		}
	default:
		p.send(msg)
	}
}

func (p *person) size(w, h int) { p.send(tea.WindowSizeMsg{Width: w, Height: h}) }

// press presses keys: names of keys in <>, and characters.
func (p *person) press(keys string) {
	p.t.Helper()
	named := map[string]tea.KeyType{
		"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "down": tea.KeyDown, "up": tea.KeyUp, "space": tea.KeySpace, "pgup": tea.KeyPgUp, "back": tea.KeyBackspace,
	}
	for keys != "" {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(keys, "<"), ">"); ok && keys[0] == '<' {
			msg := tea.KeyMsg{Type: named[name]}
			if name == "space" {
				msg.Runes = []rune{' '}
			}
			p.send(msg)
			keys = rest
			continue
		}
		r := []rune(keys)[0]
		kind := tea.KeyRunes
		if r == ' ' {
			kind = tea.KeySpace
		}
		p.send(tea.KeyMsg{Type: kind, Runes: []rune{r}})
		keys = keys[len(string(r)):]
	}
}

// sees fails the test unless the screen has all texts.
func (p *person) sees(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		if !strings.Contains(p.m.View(), text) {
			p.t.Errorf("the screen lacks %q:\n%s", text, p.m.View())
		}
	}
}

func (p *person) lacks(text string) {
	p.t.Helper()
	if strings.Contains(p.m.View(), text) {
		p.t.Errorf("the screen has %q:\n%s", text, p.m.View())
	}
}

// event sends an event and has the changed records read again.
func (p *person) event(kind, project, version string, data api.EventData) {
	p.send(remote.Batch{state.Events{List: []api.Event{{Type: kind, ProjectID: project, VersionID: version, Time: api.At(now), Data: data}}}})
	p.send(flush{})
}
