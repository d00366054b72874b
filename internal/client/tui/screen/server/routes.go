package server

import (
	"fmt"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

func routeColumns() []ui.Column {
	return []ui.Column{
		{Name: "HOST NAME", Width: 30, Flex: true},
		{Name: "VERSION", Width: 20},
		{Name: "STATE", Width: 9},
		{Name: "ROLE", Width: 10, Drop: 2},
		{Name: "IN FLIGHT", Width: 9, Right: true, Drop: 1},
		{Name: "WS", Width: 5, Right: true, Drop: 3},
		{Name: "MEMORY", Width: 10, Right: true, Drop: 4},
		{Name: "REQUEST", Width: 7, Right: true, Drop: 5},
		{Name: "PID", Width: 8, Right: true, Drop: 6},
		{Name: "UPSTREAM", Width: 22, Drop: 7},
	}
}

// routesNeed is the need of the routes of all projects.
func routesNeed() state.Need { return state.Need{Kind: state.Routes} }

// routeRows lists the host names of the gateway with what serves them.
func routeRows(s *state.State, t *ui.Theme) []ui.Row {
	list, _, _ := state.Get[[]api.Route](s, routesNeed())
	rows := make([]ui.Row, len(list))
	for i, r := range list {
		style, last := &t.Good, ui.Num("-", 0)
		if r.State != string(api.RuntimeStateServing) {
			style = &t.Dim
		}
		if r.LastRequestAt != nil {
			last = ui.Num(ui.Age(s.Now, r.LastRequestAt.Time), -float64(r.LastRequestAt.UnixMilli()))
		}
		rows[i] = ui.Row{ID: r.Host, Cells: []ui.Cell{
			ui.Text(r.Host, &t.Bold), ui.Text(r.ProjectID + "/" + r.VersionID), ui.Text(r.State, style), ui.Text(string(r.Role), &t.Dim),
			number(r.Inflight), number(r.Websockets), ui.Num(ui.Bytes(r.RSSBytes), float64(r.RSSBytes)), last, number(int64(r.PID)), ui.Text(r.Upstream, &t.Dim),
		}}
	}
	return rows
}

func number(n int64) ui.Cell { return ui.Num(fmt.Sprint(n), float64(n)) }

// openedRoute opens the version behind a host name.
func openedRoute(s *state.State, host string) ui.Intent {
	list, _, _ := state.Get[[]api.Route](s, routesNeed())
	for _, r := range list {
		if r.Host == host {
			return ui.Go{Place: ui.Place{Screen: "version", Project: r.ProjectID, Version: r.VersionID, Arg: "process"}}
		}
	}
	return nil
}
