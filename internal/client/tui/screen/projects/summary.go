package projects

import (
	"fmt"
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// window is the time in seconds that the requests of a summary are of.
const window = 300

// moment shows the age of a time; "-" for none.
func moment(s *state.State, at *api.Time) ui.Cell {
	if at == nil {
		return ui.Num("-", 0)
	}
	return ui.Num(ui.Age(s.Now, at.Time), -float64(at.UnixMilli()))
}

func memory(of api.ProjectSummary) string {
	if of.MemoryBytes == 0 {
		return "-"
	}
	return ui.Bytes(of.MemoryBytes)
}

// counts shows how many versions have which status: what failed first, since a narrow column
// cuts the rest.
func counts(t *ui.Theme, of api.ProjectSummary) ui.Cell {
	var parts []string
	total, deploying := 0, 0
	for status, n := range of.Versions {
		total += n
		if ui.Deploying(api.VersionStatus(status)) {
			deploying += n
		}
	}
	add := func(n int, name string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, name))
		}
	}
	failed := of.Versions[string(api.VersionStatusFailed)]
	add(failed, "failed")
	add(deploying, "deploying")
	for _, status := range []api.VersionStatus{api.VersionStatusReady, api.VersionStatusDraining, api.VersionStatusArchived} {
		add(of.Versions[string(status)], string(status))
	}
	style := &t.Plain
	if failed > 0 {
		style = &t.Bad
	}
	return ui.Num(strings.Join(parts, ", "), float64(total), style)
}

// last shows the newest deploy: its status and age, then the version and its ref.
func last(s *state.State, t *ui.Theme, of api.ProjectSummary) ui.Cell {
	d := of.LastDeploy
	if d == nil {
		return ui.Num("-", 0, &t.Dim)
	}
	status, style := ui.Status(t, api.Version{Status: d.Status})
	text := status + " " + ui.Age(s.Now, d.CreatedAt.Time) + " " + d.VersionID
	if d.GitRef != "" {
		text += " " + d.GitRef
	}
	return ui.Num(text, -float64(d.CreatedAt.UnixMilli()), style)
}
