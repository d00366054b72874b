package server

import (
	"cmp"
	"fmt"

	"github.com/charmbracelet/lipgloss"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

func gatewaysNeed() state.Need { return state.Need{Kind: state.Gateways} }

func gatewayColumns() []ui.Column {
	return []ui.Column{
		{Name: "GATEWAY", Width: 16, Flex: true},
		{Name: "LISTENS AT", Width: 22},
		{Name: "STATE", Width: 18},
		{Name: "GENERATION", Width: 10, Right: true, Drop: 2},
		{Name: "REQUESTS", Width: 9, Right: true},
		{Name: "IN FLIGHT", Width: 9, Right: true},
		{Name: "WS", Width: 5, Right: true, Drop: 3},
		{Name: "RELEASE", Width: 16, Drop: 4},
	}
}

// gatewayRows lists the server's own gateway, and those on other machines.
func gatewayRows(s *state.State, t *ui.Theme) []ui.Row {
	list, _, _ := state.Get[[]api.Gateway](s, gatewaysNeed())
	rows := make([]ui.Row, len(list))
	for i, g := range list {
		text, style := gatewayState(s, g, t)
		rows[i] = ui.Row{ID: g.Name + " " + g.Address, Cells: []ui.Cell{
			ui.Text(g.Name, &t.Bold), ui.Text(cmp.Or(g.Listens, g.Address)), ui.Text(text, style), number(g.Generation),
			number(g.Requests), number(g.Inflight), number(g.Websockets), ui.Text(g.Version, &t.Dim),
		}}
	}
	return rows
}

// gatewayState says whether the server hears of a gateway, and whether it has the last routes.
func gatewayState(s *state.State, g api.Gateway, t *ui.Theme) (string, *lipgloss.Style) {
	switch {
	case !g.Connected && g.ReportedAt == nil:
		return "away", &t.Bad
	case !g.Connected:
		return "away for " + ui.Age(s.Now, g.ReportedAt.Time), &t.Bad
	case g.Behind > 0:
		return fmt.Sprintf("behind by %d", g.Behind), &t.Warn
	}
	return "current", &t.Good
}
