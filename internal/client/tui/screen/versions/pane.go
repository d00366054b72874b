package versions

import (
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

const (
	wideList  = 160 // columns from which on the selected version is shown beside the list
	paneWidth = 60  // columns of that
)

// beside draws the details to the right of the list.
func beside(list string, details []string, p ui.Page) string {
	lines := strings.Split(list, "\n")
	for i, l := range lines {
		text := ""
		if i < len(details) {
			text = details[i]
		}
		lines[i] = ui.Fit(l, p.W) + p.Dim.Render("│") + " " + text
	}
	return strings.Join(lines, "\n")
}

// pane is what is known of the selected version.
func (c *Screen) pane(s *state.State, v api.Version, p ui.Page) (lines []string) {
	const name, w = 9, paneWidth - 2
	add := func(what, text string) {
		if text == "" {
			return
		}
		for i, part := range ui.Wrap(ui.Clean(text), w-name) {
			if i > 0 {
				what = ""
			}
			lines = append(lines, p.Dim.Render(ui.Fit(what, name))+part)
		}
	}
	status, style := ui.Status(p.Theme, v)
	lines = append(lines, p.Bold.Render(ui.Fit(ui.Clean(v.ID), w)), style.Render(status)+"  "+strings.TrimSpace(ui.Clean(strings.Join([]string{Prod(v), Pin(v), ui.Before(v)}, " "))))
	add("url", v.PreviewURL)
	if v.IsProduction {
		add("serves", v.ProdURL)
	}
	add("preview", v.PreviewNameURL)
	add("ref", ref(v))
	if v.ParentVersionID != nil {
		add("data", "from "+*v.ParentVersionID)
	}
	add("code", v.ReleasedFrom)
	add("made", ui.Age(s.Now, v.CreatedAt.Time)+" ago")
	of := c.loads(s)[v.ID]
	if at := later(v.LastRequestAt, of.requested); at != nil {
		add("request", ui.Age(s.Now, at.Time)+" ago")
	}
	if of.memory > 0 && v.Status == api.VersionStatusReady {
		add("memory", ui.Bytes(of.memory))
	}
	add("error", ui.Failure(v))
	for _, warning := range v.Warnings {
		add("warning", warning)
	}
	return lines
}
