package version

import (
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// compareWith opens the comparison with the production; there, it asks for another
// version.
func (c *Screen) compareWith() ui.Intent {
	if !c.at("compare") {
		c.show("compare")
		return nil
	}
	return ui.Input{Title: "Compare " + c.id, Label: "With the version; empty for the production", Text: c.other, Then: func(id string) ui.Intent {
		c.other, c.top = id, 0
		return nil
	}}
}

// compare lists what the version has different from another one.
func (c *Screen) compare(s *state.State, v api.Version, p ui.Page) []string {
	both, ok, err := state.Get[api.Comparison](s, c.need(state.Compare))
	switch {
	case v.IsProduction && c.other == "":
		return []string{"", p.Dim.Render("  " + v.ID + " is production; c compares it with another version")}
	case !ok || err != nil:
		return []string{"", p.Dim.Render("  " + ui.Empty(false, err, ""))}
	case len(both.Differences) == 0:
		return []string{"", "  " + both.From.VersionID + " and " + both.To.VersionID + " do not differ"}
	}
	side := max((p.W-44)/2, 12)
	lines := []string{"", p.Head.Render("  " + ui.Fit("WHAT", 12) + ui.Fit("NAME", 26) + "  " + ui.Fit(ui.Clean(both.From.VersionID), side) + ui.Fit(ui.Clean(both.To.VersionID), side))}
	for _, d := range both.Differences {
		sign, style := "~", &p.Warn
		switch d.Change {
		case api.DifferenceChangeAdded:
			sign, style = "+", &p.Good
		case api.DifferenceChangeRemoved:
			sign, style = "-", &p.Bad
		case api.DifferenceChangeChanged:
		}
		lines = append(lines, " "+style.Render(sign+ui.Fit(string(d.What), 12)+ui.Fit(ui.Clean(d.Name), 26))+"  "+
			ui.Fit(sideText(d.Before, d.BeforeBytes), side)+ui.Fit(sideText(d.After, d.AfterBytes), side))
	}
	return lines
}

// sideText is one side of a difference; "-" for nothing.
func sideText(text string, bytes int64) string {
	if bytes > 0 {
		text = strings.TrimSpace(text + " " + ui.Bytes(bytes))
	}
	if text == "" {
		return "-"
	}
	return ui.Clean(text)
}
