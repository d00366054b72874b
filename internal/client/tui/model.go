package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

const (
	tickEvery  = time.Second            // ages and the time of an outage are shown in seconds
	flushEvery = 150 * time.Millisecond // records that events changed are read again at most this often
	maxLoads   = 6                      // requests at a time
	manyDirty  = 40                     // changed versions of a project above which its list is read instead
)

// Remote is the connection to a server: remote.Remote.
type Remote interface {
	Next() tea.Cmd
	Load(n state.Need) tea.Cmd
	Do(a state.Action) tea.Cmd
	Download(d state.Download) tea.Cmd
	Follow(n state.Need)
	Unfollow(n state.Need)
	Close()
}

// Desk is what the interface uses of the person's machine. All are required.
type Desk struct {
	Browse  func(url string) error
	Copy    func(text string) error
	Save    func(path, text string) error                // fails if the file exists
	Connect func(context string) (Remote, string, error) // the other server and its address
}

// Model is the whole interface.
type Model struct {
	state    *state.State
	theme    *ui.Theme
	remote   Remote
	after    func(time.Duration, func(time.Time) tea.Msg) tea.Cmd // tea.Tick
	desk     Desk
	stack    []opened
	w, h     int
	dialog   *dialog
	prompt   *prompt
	help     bool
	helpAt   int // its first line
	note     string
	bad      bool              // note is an error
	heard    func(note string) // takes each note, also one that the next replaces; nil for nothing
	bulk     *bulk             // the last one that is under way; nil without one
	linked   bool              // the stream of events has answered, well or not
	loading  int
	dirty    map[state.Need]bool
	followed map[state.Need]bool // logs
	waiting  []state.Need        // needs for which there is no free request
}

// opened is a screen and its place.
type opened struct {
	place  ui.Place
	screen ui.Screen
}

// tick is sent every second, flush after records have changed.
type (
	tick  time.Time
	flush struct{}
)

// New returns a Model that shows a place.
func New(s *state.State, theme *ui.Theme, r Remote, desk Desk, at ui.Place) *Model {
	m := &Model{after: tea.Tick, state: s, theme: theme, remote: r, desk: desk, w: 80, h: 24, dirty: map[state.Need]bool{}, followed: map[state.Need]bool{}}
	if at.Project != "" && at.Screen != "projects" {
		m.push(ui.Place{Screen: "projects"})
	}
	m.push(at)
	return m
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.remote.Next(), m.again()) }

func (m *Model) again() tea.Cmd {
	return m.after(tickEvery, func(t time.Time) tea.Msg { return tick(t) })
}

func (m *Model) top() opened { return m.stack[len(m.stack)-1] }

// push opens a place; an unknown screen is reported in the last line.
func (m *Model) push(p ui.Place) {
	s := open(p)
	if s == nil {
		m.fail("there is no screen " + p.Screen + "; ? lists the commands")
		return
	}
	if n := len(m.stack); n > 0 && m.stack[n-1].place == p {
		return
	}
	for _, n := range s.Needs() {
		if n.Kind.Data() {
			m.state.Expire(n)
		}
	}
	m.stack = append(m.stack, opened{p, s})
	if len(m.stack) > 50 { // enough to go back
		m.stack = m.stack[1:]
	}
}

// back closes the screen of the top.
func (m *Model) back() {
	if len(m.stack) > 1 {
		m.stack = m.stack[:len(m.stack)-1]
	}
}

func (m *Model) say(text string)  { m.noted(text, false) }
func (m *Model) fail(text string) { m.noted(text, true) }

func (m *Model) noted(text string, bad bool) {
	m.note, m.bad = ui.Clean(text), bad
	if m.heard != nil && m.note != "" {
		m.heard(m.note)
	}
}
