package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// prompt is the line of a command (":") or a filter ("/").
type prompt struct {
	sign string
	line ui.Line
}

func (m *Model) promptKey(k tea.KeyMsg) tea.Cmd {
	p := m.prompt
	f, _ := m.top().screen.(ui.Filtered)
	switch k.String() {
	case "esc":
		m.prompt = nil
		if p.sign == "/" {
			f.SetFilter("")
		}
	case "enter":
		m.prompt = nil
		if p.sign == ":" {
			return m.command(p.line.Text())
		}
	case "tab":
		if p.sign == ":" {
			p.line = ui.NewLine(completed(p.line.Text(), m.candidates(p.line.Text())))
		}
	default:
		p.line.Update(k)
		if p.sign == "/" {
			f.SetFilter(p.line.Text())
		}
	}
	return nil
}

// candidates returns what the last word of a command may be.
func (m *Model) candidates(text string) []string {
	command, rest, more := strings.Cut(text, " ")
	var all []string
	if !more {
		for _, k := range kinds() {
			all = append(all, k.name)
		}
		all = append(all, "ctx", "quit")
	} else {
		all = m.arguments(command, rest)
	}
	last := text[strings.LastIndexByte(text, ' ')+1:]
	return slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(s, last) })
}

// arguments returns the possible arguments of a command.
func (m *Model) arguments(command, rest string) (all []string) {
	if command == "ctx" {
		return slices.Clone(m.state.Contexts)
	}
	all = m.state.ProjectIDs()
	if project, _, ok := strings.Cut(rest, "/"); ok {
		list, _, _ := state.Get[[]api.Version](m.state, state.Need{Kind: state.Versions, Project: project})
		all = nil
		for _, v := range list {
			all = append(all, project+"/"+v.ID)
		}
	}
	return all
}

// completed extends the last word of a text by what all candidates have in common.
func completed(text string, candidates []string) string {
	if len(candidates) == 0 {
		return text
	}
	common := candidates[0]
	for _, c := range candidates[1:] {
		for !strings.HasPrefix(c, common) {
			common = common[:len(common)-1]
		}
	}
	if len(candidates) == 1 && !strings.Contains(text, " ") {
		common += " "
	}
	return text[:strings.LastIndexByte(text, ' ')+1] + common
}

// command runs a command.
func (m *Model) command(text string) tea.Cmd {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil
	}
	switch words[0] {
	case "q", "quit", "q!":
		return tea.Quit
	case "ctx", "context":
		return m.context(words[1:])
	case "help":
		m.help = true
		return nil
	}
	all := kinds()
	i := slices.IndexFunc(all, func(k kind) bool { return k.name == words[0] })
	if i < 0 { // the only one that begins so
		var begin []int
		for j, k := range all {
			if strings.HasPrefix(k.name, words[0]) {
				begin = append(begin, j)
			}
		}
		if len(begin) != 1 {
			m.fail("unknown command :" + words[0] + "; tab completes, ? lists them")
			return nil
		}
		i = begin[0]
	}
	m.open(all[i], words[1:])
	return nil
}

// open opens a screen for a command's argument, or else for what is shown.
func (m *Model) open(k kind, args []string) {
	here := m.top().place
	p := ui.Place{Screen: k.name, Project: here.Project, Version: here.Version}
	if len(args) > 0 {
		p.Project, p.Version, _ = strings.Cut(args[0], "/")
	}
	switch {
	case k.needs == "":
		p.Project, p.Version = "", ""
	case p.Project == "":
		m.fail(":" + k.name + " needs a project: :" + k.name + " PROJECT")
		return
	case k.needs == "version" && p.Version == "":
		m.fail(":" + k.name + " needs a version: :" + k.name + " PROJECT/VERSION")
		return
	}
	if k.name == "versions" || k.name == "tree" {
		p.Version = ""
	}
	m.push(p)
}

// context switches to another server.
func (m *Model) context(args []string) tea.Cmd {
	if len(m.state.Contexts) == 0 {
		m.fail("there is no context: svcctl login URL makes one")
		return nil
	}
	if len(args) != 1 {
		m.fail("name a context: " + strings.Join(m.state.Contexts, ", "))
		return nil
	}
	r, server, err := m.desk.Connect(args[0])
	if err != nil {
		m.fail(err.Error())
		return nil
	}
	m.remote.Close()
	next := state.New(m.state.Now, server)
	next.Context, next.Contexts, next.ReadOnly = args[0], m.state.Contexts, m.state.ReadOnly
	m.state, m.remote, m.linked, m.loading, m.waiting = next, r, false, 0, nil
	clear(m.dirty)
	clear(m.followed)
	m.stack = nil
	m.push(ui.Place{Screen: kinds()[0].name})
	return m.remote.Next()
}
