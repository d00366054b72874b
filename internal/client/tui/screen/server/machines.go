package server

import (
	"cmp"
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

func nodesNeed() state.Need { return state.Need{Kind: state.Nodes} }

func nodeColumns() []ui.Column {
	return []ui.Column{
		{Name: "NAME", Width: 20, Flex: true},
		{Name: "NODE", Width: 16, Flex: true, Drop: 2},
		{Name: "VERSIONS", Width: 8, Right: true},
		{Name: "SPARES", Width: 6, Right: true},
		{Name: "MEMORY", Width: 10, Right: true},
		{Name: "ANSWERED", Width: 8, Right: true},
		{Name: "RUNS", Width: 30, Flex: true, Drop: 3},
	}
}

// nodeRows lists the machines or pods that run versions.
func nodeRows(s *state.State, t *ui.Theme) []ui.Row {
	list, _, _ := state.Get[[]api.Node](s, nodesNeed())
	at := s.ReadAt(nodesNeed()) // a machine that is well would be old between two answers
	rows := make([]ui.Row, len(list))
	for i, n := range list {
		rows[i] = ui.Row{ID: n.ID, Cells: []ui.Cell{
			ui.Text(n.Name, &t.Bold), ui.Text(cmp.Or(n.Node, "-")), number(int64(len(n.Versions))), number(int64(n.Spares)),
			ui.Num(ui.Bytes(n.RSSBytes), float64(n.RSSBytes)),
			ui.Num(ui.Age(at, n.AnsweredAt.Time), -float64(n.AnsweredAt.UnixMilli())), ui.Text(strings.Join(n.Versions, ", "), &t.Dim),
		}}
	}
	return rows
}

// openedNode opens the version that a machine runs.
func openedNode(s *state.State, machine string) ui.Intent {
	list, _, _ := state.Get[[]api.Node](s, nodesNeed())
	for _, n := range list {
		switch {
		case n.ID != machine:
		case len(n.Versions) == 0:
			return ui.Note{Text: ui.Clean(n.Name) + " runs no version"}
		case len(n.Versions) > 1:
			return ui.Note{Text: ui.Clean(n.Name + " runs " + strings.Join(n.Versions, ", "))}
		default:
			project, version, _ := strings.Cut(n.Versions[0], "/")
			return ui.Go{Place: ui.Place{Screen: "version", Project: project, Version: version, Arg: "process"}}
		}
	}
	return nil
}
