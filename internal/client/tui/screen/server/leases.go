package server

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

func leasesNeed() state.Need { return state.Need{Kind: state.Leases} }

func leaseColumns() []ui.Column {
	return []ui.Column{
		{Name: "VERSION", Width: 20, Flex: true},
		{Name: "STATUS", Width: 12, Drop: 2},
		{Name: "DATA", Width: 10},
		{Name: "OWNER", Width: 24},
		{Name: "CHANGES", Width: 7, Right: true, Drop: 3},
		{Name: "SINCE", Width: 7, Right: true, Drop: 1},
		{Name: "SESSION", Width: 26, Drop: 4},
	}
}

// leaseRows lists who owns the data of the versions.
func leaseRows(s *state.State, t *ui.Theme) []ui.Row {
	list, _, _ := state.Get[api.LeasePage](s, leasesNeed())
	rows := make([]ui.Row, len(list.Items))
	for i, o := range list.Items {
		owner, style, since := cmp.Or(o.Node, "-"), &t.Warn, ui.Num("-", 0)
		switch {
		case o.ThisServer:
			owner, style = "this server", &t.Good
		case o.Node == "":
			style = &t.Dim
		}
		if o.TakenOver {
			owner += ", taken over"
		}
		if !o.ChangedAt.IsZero() {
			since = ui.Num(ui.Age(s.Now, o.ChangedAt.Time), -float64(o.ChangedAt.UnixMilli()))
		}
		ref := o.ProjectID + "/" + o.VersionID
		rows[i] = ui.Row{ID: ref, Cells: []ui.Cell{
			ui.Text(ref, &t.Bold), ui.Text(o.Status), ui.Text(string(o.Data)), ui.Text(owner, style), number(o.Epoch), since, ui.Text(o.Session, &t.Dim),
		}}
	}
	return rows
}

// nodeLeases says which nodes of the object store there are, and whether they are alive.
func nodeLeases(s *state.State, p ui.Page) []string {
	list, ok, _ := state.Get[api.LeasePage](s, leasesNeed())
	if !ok {
		return []string{""}
	}
	parts := make([]string, len(list.Nodes))
	for i, n := range list.Nodes {
		parts[i] = "node " + ui.Clean(n.Node)
		if n.ThisServer {
			parts[i] += " (this server)"
		}
		switch {
		case n.Released:
			parts[i] += " stopped"
		case list.LeaseTTLSeconds == 0:
			parts[i] += " without a lease: its object store is its own"
		default:
			parts[i] += fmt.Sprintf(" lease renewed %s ago, valid for %.0fs", ui.Age(s.Now, n.RenewedAt.Time), list.LeaseTTLSeconds)
		}
	}
	return []string{p.Dim.Render(" " + strings.Join(parts, "  "))}
}

// openedLease opens a version.
func openedLease(_ *state.State, ref string) ui.Intent {
	project, version, _ := strings.Cut(ref, "/")
	return ui.Go{Place: ui.Place{Screen: "version", Project: project, Version: version}}
}
