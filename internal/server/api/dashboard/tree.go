package dashboard

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/svcctl/svcctl/pkg/api"
)

const (
	treeRow  = 40 // height of a row, as in the style
	treeStep = 22 // width of a level
)

// treeBody is the tree of a project's data.
type treeBody struct {
	Tree    api.BranchTree
	Drawing template.HTML
}

// tree shows which version began with the data of which.
func (d *Dashboard) tree(c *call) error {
	project := c.r.PathValue("project")
	list, err := c.api.Branches(c.r.Context(), project)
	if err != nil {
		return err
	}
	d.render(c, "tree", page{Title: "Tree of " + project, Tab: "tree", Place: place{Project: project}, Live: project, Body: treeBody{list, drawTree(list.Items)}})
	return nil
}

// drawTree draws the lines from parents to children, a row for each branch. The result
// holds numbers and fixed names only.
func drawTree(items []api.Branch) template.HTML {
	var lines, dots strings.Builder
	last := map[int]int{} // row of the last branch at a depth
	deepest := 0
	x := func(depth int) int { return 12 + depth*treeStep } // room at the edge
	y := func(row int) int { return row*treeRow + treeRow/2 }
	for row, b := range items {
		last[b.Depth] = row
		deepest = max(deepest, b.Depth)
		if b.Depth > 0 {
			up := x(b.Depth - 1)
			fmt.Fprintf(&lines, "M%d %dV%dq0 8 8 8H%d", up, y(last[b.Depth-1]), y(row)-8, x(b.Depth)) // the radius of the corner
		}
		class := statusOf(api.Version{Status: b.Status}).Class
		if b.IsProduction {
			class += " prod"
		}
		fmt.Fprintf(&dots, `<circle class="%s" cx="%d" cy="%d" r="4.5"/>`, class, x(b.Depth), y(row))
	}
	return template.HTML(fmt.Sprintf(`<svg class="branches" width="%d" height="%d" aria-hidden="true" focusable="false"><path d="%s"/>%s</svg>`, //nolint:gosec // numbers and fixed names
		x(deepest)+12, len(items)*treeRow, lines.String(), dots.String())) // room at the edge
}
