package data

import (
	"cmp"
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/internal/client/unmerged"
	"github.com/svcctl/svcctl/pkg/api"
)

// compare opens what this version and its parent wrote since the fork; there, it asks for
// another version.
func (c *Screen) compare(s *state.State) ui.Intent {
	v, ok := s.FindVersion(c.place.Project, c.place.Version)
	if c.kind != diff && ok && v.ParentVersionID != nil {
		return c.open(diff, "", "")
	}
	return ui.Input{Title: "Compare the data of " + c.of(), Label: "With the version", Then: func(id string) ui.Intent {
		if id = strings.TrimSpace(id); id == "" {
			return ui.Note{Text: "nothing was compared"}
		}
		return c.open(diff, id, "")
	}}
}

// diff lists what each of two versions wrote since their data began to differ.
func (c *Screen) diff(s *state.State, t *ui.Theme) content {
	d, ok, err := state.Get[api.DataComparison](s, c.need())
	out := content{loaded: ok, err: err, columns: []ui.Column{
		{Name: "VERSION", Width: 16},
		{Name: "WHAT", Width: 30, Flex: true},
		{Name: "NEW", Width: 9, Right: true},
		{Name: "CHANGED", Width: 9, Right: true},
		{Name: "DELETED", Width: 9, Right: true},
	}}
	if !ok {
		return out
	}
	from, to := d.From.VersionID, d.To.VersionID
	for _, side := range []struct {
		id, other string
		written   api.Unmerged
	}{{from, to, d.From.Written}, {to, from, d.To.Written}} {
		out.head = append(out.head, " "+t.Dim.Render(ui.Clean(unmerged.Cut(side.written, side.id, side.other))))
		for _, r := range unmerged.Rows(side.written) {
			w := r.WrittenRecords
			out.rows = append(out.rows, ui.Row{ID: side.id + "/" + r.What, Cells: []ui.Cell{
				ui.Text(side.id, &t.Bold), ui.Text(r.What), count(w.Inserted, w), count(w.Updated, w), count(w.Deleted, w),
			}})
		}
	}
	return out
}

func count(n int64, w api.WrittenRecords) ui.Cell {
	return ui.Num(strings.Replace(unmerged.Count(n, w), "at least ", "≥ ", 1), float64(n))
}

// with names the other version of a comparison.
func (c *Screen) with() string { return cmp.Or(c.arg[0], "its parent") }
