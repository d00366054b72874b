package tui

import (
	"errors"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/remote"
	"github.com/svcctl/svcctl/internal/client/tui/screen/ask"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/client"
)

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = max(msg.Width, 20), max(msg.Height, 6)
	case tea.KeyMsg:
		cmd = m.key(msg)
	case tea.MouseMsg:
		m.mouse(msg)
	case tick:
		m.state.Now = time.Time(msg)
		m.state.Refresh(m.top().screen.Needs())
		m.state.Prune(m.shown())
		cmd = m.again()
	case remote.Batch:
		cmd = tea.Batch(m.streamed(msg), m.remote.Next())
	case state.Loaded:
		m.loading--
		m.state.Put(msg)
	case state.Done:
		m.done(msg)
	case flush:
		m.flush()
	case copied:
		m.say("copied: " + msg.text)
	case saved:
		m.say("saved in " + msg.path)
	case state.Downloaded:
		m.downloaded(msg)
	case failed:
		m.fail(describe(msg.err))
	}
	cmd = tea.Batch(cmd, m.load())
	if m.dialog != nil {
		m.dialog.refresh(m.state)
	}
	return m, cmd
}

// downloaded says how a download ended.
func (m *Model) downloaded(d state.Downloaded) {
	if d.Err != nil {
		m.fail(describe(d.Err))
		return
	}
	m.say("saved in " + d.Download.Path + ", " + ui.Bytes(d.Bytes))
}

// streamed takes messages of the streams.
func (m *Model) streamed(list remote.Batch) tea.Cmd {
	begin := len(m.dirty) == 0
	for _, msg := range list {
		switch msg := msg.(type) {
		case state.Events:
			for _, e := range msg.List {
				if e.Type == "server.started" {
					m.state.Reset()
				}
				for _, n := range m.state.Apply(e) {
					m.dirty[n] = true
				}
			}
		case state.Lines:
			m.state.AddLines(msg)
		case state.Loaded:
			m.state.Put(msg)
		case state.Link:
			m.link(msg)
		}
	}
	if begin && len(m.dirty) > 0 {
		return m.after(flushEvery, func(time.Time) tea.Msg { return flush{} })
	}
	return nil
}

// link takes a change of the connection.
func (m *Model) link(l state.Link) {
	m.linked = true
	if !l.Up && m.state.Link.Up || l.Up {
		m.state.Link = l
	} else { // still away: since the first failure
		m.state.Link.Err = l.Err
		if m.state.Link.At.IsZero() {
			m.state.Link.At = l.At
		}
	}
	if l.Resync {
		m.state.Reset()
	}
}

// flush has the records that events changed read again: each once, however many events
// there were, and the list of a project in place of very many.
func (m *Model) flush() {
	count := map[string]int{}
	for n := range m.dirty {
		if n.Kind == state.Version {
			count[n.Project]++
		}
	}
	for n := range m.dirty {
		list := state.Need{Kind: state.Versions, Project: n.Project}
		if n.Kind == state.Version && count[n.Project] > manyDirty && m.state.Has(list) {
			n = list
		}
		m.state.Expire(n)
		if !slices.Contains(m.waiting, n) {
			m.waiting = append(m.waiting, n)
		}
	}
	clear(m.dirty)
}

// load begins what the screen needs and what changed, as far as requests are free. The
// first load waits for the stream of events, so that no change falls between the two.
func (m *Model) load() tea.Cmd {
	if !m.linked {
		return nil
	}
	var cmds []tea.Cmd
	begin := func(n state.Need) bool {
		if m.loading >= maxLoads {
			return false
		}
		if m.state.Begin(n) {
			m.loading++
			cmds = append(cmds, m.remote.Load(n))
		}
		return true
	}
	needs := m.top().screen.Needs()
	m.follow(needs)
	if m.dialog != nil {
		needs = slices.Concat(needs, m.dialog.needs)
	}
	for _, n := range needs {
		if n.Kind != state.Logs {
			begin(n)
		}
	}
	rest := m.waiting[:0]
	for _, n := range m.waiting {
		if !begin(n) {
			rest = append(rest, n)
		}
	}
	m.waiting = rest
	return tea.Batch(cmds...)
}

// follow follows the logs that the screen needs, and no others.
func (m *Model) follow(needs []state.Need) {
	for n := range m.followed {
		if !slices.Contains(needs, n) {
			m.remote.Unfollow(n)
			m.state.Forget(n)
			delete(m.followed, n)
		}
	}
	for _, n := range needs {
		if n.Kind == state.Logs && !m.followed[n] {
			m.followed[n] = true
			m.remote.Follow(n)
		}
	}
}

// done takes the end of an action.
func (m *Model) done(d state.Done) {
	delete(m.state.Running, d.Action)
	if m.bulk != nil && m.bulk.left[d.Action] {
		m.ended(d)
		return
	}
	if d.Err != nil {
		m.refused(d)
		m.fail(string(d.Action.Verb) + " " + d.Action.Target() + ": " + describe(d.Err))
		return
	}
	if d.Action.Verb.Data() {
		m.state.Reset()
	}
	m.say(d.Note)
}

// refused asks again after the server has refused earlier code because of migrations, unless the
// person does something else by now.
func (m *Model) refused(d state.Done) {
	if a, ok := ask.Forced(d); ok && m.dialog == nil && m.prompt == nil {
		m.ask(a)
	}
}

// shown returns the needs of all open screens.
func (m *Model) shown() (all []state.Need) {
	for _, o := range m.stack {
		all = append(all, o.screen.Needs()...)
	}
	return all
}

// describe returns the text of an error with its code, if it has one.
func describe(err error) string {
	var e *client.Error
	if errors.As(err, &e) && e.Problem.Code != "" {
		return err.Error() + " [" + e.Problem.Code + "]"
	}
	return err.Error()
}
