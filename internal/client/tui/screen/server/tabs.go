package server

import (
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// tab is a table about the server. The log is the tab without rows.
type tab struct {
	name    string
	need    state.Need
	columns []ui.Column
	rows    func(*state.State, *ui.Theme) []ui.Row
	nothing string // what an empty table says
	above   func(*state.State, ui.Page) []string
	open    func(*state.State, string) ui.Intent
	copies  string // what y copies
	copied  func(ui.Row) string
}

func id(r ui.Row) string { return r.ID }

func tabs() []tab {
	return []tab{
		{
			name: "settings", need: need(), rows: settingRows, nothing: "no settings", copies: "the setting",
			columns: []ui.Column{{Name: "SETTING", Width: 30}, {Name: "FROM", Width: 11}, {Name: "VALUE", Width: 30, Flex: true}},
			copied:  func(r ui.Row) string { return r.Cells[0].Text + "=" + r.Cells[2].Text },
		},
		{
			name: "routes", need: routesNeed(), columns: routeColumns(), rows: routeRows, nothing: "no version serves",
			open: openedRoute, copies: "the host name", copied: id,
		},
		{
			name: "nodes", need: nodesNeed(), columns: nodeColumns(), rows: nodeRows, nothing: "no machine has joined; with SVC_RUNTIME=local the server runs versions itself",
			open: openedNode, copies: "the name", copied: func(r ui.Row) string { return r.Cells[0].Text },
		},
		{
			name: "gateways", need: gatewaysNeed(), columns: gatewayColumns(), rows: gatewayRows, nothing: "no gateway",
			copies: "the address", copied: func(r ui.Row) string { return r.Cells[1].Text },
		},
		{
			name: "leases", need: leasesNeed(), columns: leaseColumns(), rows: leaseRows, nothing: "no version",
			above: nodeLeases, open: openedLease, copies: "the version", copied: id,
		},
		{
			name: "tokens", need: need(), rows: tokenRows, nothing: "no tokens", copies: "the name", copied: id,
			columns: []ui.Column{{Name: "TOKEN", Width: 30, Flex: true}, {Name: "ROLE", Width: 8}, {Name: "FINGERPRINT", Width: 11}, {Name: "EXPIRES", Width: 20}},
		},
		{name: "log"},
	}
}

// tabLine names the tabs, the shown one in brackets.
func (c *Screen) tabLine(p ui.Page) string {
	var names []string
	for i, t := range tabs() {
		if i == c.tab {
			names = append(names, p.Cursor.Render("["+t.name+"]"))
		} else {
			names = append(names, p.Dim.Render(" "+t.name+" "))
		}
	}
	return " " + strings.Join(names, " ")
}

func settingRows(s *state.State, t *ui.Theme) []ui.Row {
	info, _, _ := state.Get[api.Server](s, need())
	rows := make([]ui.Row, len(info.Settings))
	for i, o := range info.Settings {
		style := &t.Dim
		if o.Source != api.SettingSourceDefault {
			style = &t.Bold
		}
		rows[i] = ui.Row{ID: o.Name, Cells: []ui.Cell{ui.Text(o.Name, style), ui.Text(string(o.Source), style), ui.Text(o.Value, style)}}
	}
	return rows
}

func tokenRows(s *state.State, t *ui.Theme) []ui.Row {
	info, _, _ := state.Get[api.Server](s, need())
	rows := make([]ui.Row, len(info.Tokens))
	for i, o := range info.Tokens {
		expires := "never"
		if !o.ExpiresAt.IsZero() {
			expires = o.ExpiresAt.UTC().Format("2006-01-02 15:04:05")
		}
		rows[i] = ui.Row{ID: o.Name, Cells: []ui.Cell{ui.Text(o.Name, &t.Bold), ui.Text(string(o.Role)), ui.Text(o.Fingerprint, &t.Dim), ui.Text(expires, &t.Dim)}}
	}
	return rows
}
