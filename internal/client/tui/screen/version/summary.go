package version

import (
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/screen/versions"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// summary is what every tab shows above its own.
func (c *Screen) summary(s *state.State, v api.Version, p ui.Page) []string {
	status, style := ui.Status(p.Theme, v)
	first := " " + style.Render(status)
	if v.IsProduction {
		first += "  " + p.Accent.Render("★ production")
	}
	if pin := versions.Pin(v); pin != "" {
		first += "  " + pin
	}
	if v.HandedOverTo != "" {
		first += "  " + p.Warn.Render(ui.Clean(ui.Before(v))) + p.Dim.Render("  handed over to ") + ui.Clean(v.HandedOverTo)
	}
	if v.Events == api.VersionEventsOff {
		first += "  " + p.Warn.Render("events off")
	}
	if v.ReleasedFrom != "" {
		first += p.Dim.Render("  released from ") + ui.Clean(v.ReleasedFrom)
	}
	if v.GitRef+v.GitSHA != "" {
		first += "  " + ui.Clean(v.GitRef) + p.Dim.Render(" "+ui.Clean(v.GitSHA[:min(12, len(v.GitSHA))]))
	}
	if v.ParentVersionID != nil {
		first += p.Dim.Render("  data from ") + ui.Clean(*v.ParentVersionID)
	}
	first += p.Dim.Render("  made " + ui.Age(s.Now, v.CreatedAt.Time) + " ago")
	lines := []string{first, " " + p.Dim.Render(ui.Clean(v.PreviewURL))}
	if v.PreviewName != "" {
		lines[1] += p.Dim.Render("  preview ") + ui.Clean(v.PreviewName) + p.Dim.Render(" "+ui.Clean(v.PreviewNameURL))
	}
	if v.Error != "" {
		for _, l := range ui.Wrap("error: "+ui.Clean(ui.Failure(v)), p.W-2) {
			lines = append(lines, " "+p.Bad.Render(l))
		}
	}
	for _, w := range v.Warnings {
		lines = append(lines, " "+p.Warn.Render("warning: "+ui.Clean(w)))
	}
	return lines
}

func (c *Screen) tabLine(p ui.Page) string {
	var parts []string
	for i, t := range tabs() {
		if i == c.tab {
			parts = append(parts, p.Cursor.Render("["+t.name+"]"))
		} else {
			parts = append(parts, p.Dim.Render(" "+t.name+" "))
		}
	}
	return " " + strings.Join(parts, " ")
}
