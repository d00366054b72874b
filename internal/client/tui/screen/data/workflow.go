package data

import (
	"fmt"
	"time"

	"github.com/charmbracelet/lipgloss"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// instances lists the instances of a workflow, newest first.
func (c *Screen) instances(s *state.State, t *ui.Theme) content {
	page, ok, err := state.Get[api.WorkflowInstancePage](s, c.need())
	out := content{loaded: ok, err: err, columns: []ui.Column{
		{Name: "INSTANCE", Width: 30, Flex: true}, {Name: "STATUS", Width: 15}, {Name: "STEP", Width: 16, Drop: 2}, {Name: "AGE", Width: 6, Right: true}, {Name: "ERROR", Width: 24, Drop: 1},
	}}
	if page.NextCursor != nil {
		out.next = *page.NextCursor
	}
	for _, i := range page.Items {
		failure := ""
		if i.Error != nil {
			failure = i.Error.Name + ": " + i.Error.Message
		}
		out.rows = append(out.rows, ui.Row{ID: i.ID, Cells: []ui.Cell{
			ui.Text(i.ID, &t.Bold), ui.Text(i.Status, statusStyle(t, i.Status)), ui.Text(i.CurrentStep, &t.Dim),
			ui.Num(ui.Age(s.Now, i.CreatedAt.Time), -float64(i.CreatedAt.UnixMilli())), ui.Text(failure, &t.Bad),
		}})
	}
	out.open = func(r ui.Row) ui.Intent { return c.open(steps, c.arg[0], r.ID) }
	return out
}

func statusStyle(t *ui.Theme, status string) *lipgloss.Style {
	switch status {
	case "complete", "done":
		return &t.Good
	case "errored", "terminated", "failed":
		return &t.Bad
	}
	return &t.Warn
}

// steps lists the steps of an instance in the order they began.
func (c *Screen) steps(s *state.State, t *ui.Theme) content {
	i, ok, err := state.Get[api.WorkflowInstanceDetail](s, c.need())
	out := content{loaded: ok, err: err, columns: []ui.Column{
		{Name: "STEP", Width: 20},
		{Name: "TYPE", Width: 12, Drop: 1},
		{Name: "STATE", Width: 8},
		{Name: "TRIES", Width: 5, Right: true},
		{Name: "TOOK", Width: 8, Right: true, Drop: 2},
		{Name: "OUTPUT", Width: 20, Flex: true},
	}}
	if !ok {
		return out
	}
	out.head = instanceLines(i, t)
	for n, step := range i.Steps {
		output, took := string(step.Output), "-"
		if step.Error != nil {
			output = step.Error.Name + ": " + step.Error.Message
		}
		end := s.Now
		if step.EndedAt != nil {
			end = step.EndedAt.Time
		}
		if d := end.Sub(step.StartedAt.Time); d >= 0 {
			took = ui.Millis(d)
		}
		out.rows = append(out.rows, ui.Row{ID: fmt.Sprint(n), Cells: []ui.Cell{
			ui.Text(step.Name, &t.Bold), ui.Text(step.Type, &t.Dim), ui.Text(step.State, statusStyle(t, step.State)), ui.Num(fmt.Sprint(step.Attempts), float64(step.Attempts)),
			ui.Num(took, float64(end.Sub(step.StartedAt.Time)/time.Millisecond)), ui.Text(output, &t.Dim),
		}})
	}
	return out
}

// instanceLines says how an instance began and what came of it.
func instanceLines(i api.WorkflowInstanceDetail, t *ui.Theme) []string {
	lines := []string{" " + statusStyle(t, i.Status).Render(ui.Clean(i.Status)) + t.Dim.Render("  params "+ui.Clean(string(i.Params)))}
	switch {
	case i.Error != nil:
		lines = append(lines, " "+t.Bad.Render(ui.Clean(i.Error.Name+": "+i.Error.Message)))
	case len(i.Output) > 0:
		lines = append(lines, t.Dim.Render(" output "+ui.Clean(string(i.Output))))
	}
	return append(lines, "")
}
