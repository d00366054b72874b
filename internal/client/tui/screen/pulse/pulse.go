package pulse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// Screen is the screen.
type Screen struct {
	ui.Table

	above int // lines above the table in the last view
}

// New makes the screen.
func New(ui.Place) *Screen {
	return &Screen{Table: ui.Table{Columns: []ui.Column{
		{Name: "PROJECT", Width: 16},
		{Name: "PRODUCTION", Width: 18, Drop: 1},
		{Name: "REQ/S", Width: 7, Right: true},
		{Name: "5XX", Width: 6, Right: true},
		{Name: "P95", Width: 6, Right: true},
		{Name: "LAST 5 MINUTES", Width: 14, Flex: true},
	}}}
}

// Needs implements ui.Screen.
func (*Screen) Needs() []state.Need {
	return []state.Need{
		{Kind: state.Health}, {Kind: state.Traffic}, {Kind: state.Projects}, {Kind: state.Server}, {Kind: state.Broken}, {Kind: state.Summaries}, {Kind: state.History},
	}
}

func (c *Screen) rows(s *state.State, t *ui.Theme) []ui.Row {
	list, _, _ := state.Get[[]api.Project](s, state.Need{Kind: state.Projects})
	traffic, _, _ := state.Get[api.MetricsSummary](s, state.Need{Kind: state.Traffic})
	rows := make([]ui.Row, len(list))
	for i, p := range list {
		of := ui.TrafficOf(traffic, p.ID)
		errors := &t.Dim
		if of.Errors > 0 {
			errors = &t.Bad
		}
		rows[i] = ui.Row{ID: p.ID, Cells: []ui.Cell{
			ui.Text(p.ID, &t.Bold), ui.Text(cmp.Or(p.ProdVersionID, "none"), &t.Dim),
			ui.Num(ui.Rate(of, traffic.WindowSeconds), float64(of.Requests)), ui.Num(ui.Share(of), float64(of.Errors), errors),
			ui.Num(ui.P95(of), of.P95Ms),
			{Text: spark(of.Samples, 60), Style: &t.Good, Tail: true}, // the newest samples are at the end
		}}
	}
	slices.SortStableFunc(rows, func(a, b ui.Row) int { return int(b.Cells[2].Sort - a.Cells[2].Sort) })
	return rows
}

func spark[N int64 | float64](samples []N, w int) string {
	values := make([]float64, len(samples))
	for i, n := range samples {
		values[i] = float64(n)
	}
	return ui.Spark(values, min(w, max(len(values), 1)))
}

// View implements ui.Screen.
func (c *Screen) View(s *state.State, p ui.Page) string {
	head := append(append(c.health(s, p), c.traffic(s, p)...), c.alerts(s, p)...)
	c.above = len(head) + 1
	return ui.Above(append(head, ""), p, func(rest ui.Page) string {
		_, ok, err := state.Get[[]api.Project](s, state.Need{Kind: state.Projects})
		return c.Table.View(c.rows(s, p.Theme), rest, ui.Empty(ok, err, "no project yet: svcctl deploy --wait in a worker directory creates one"))
	})
}

// health says what the server says of its parts.
func (*Screen) health(s *state.State, p ui.Page) []string {
	h, ok, err := state.Get[api.DeepHealth](s, state.Need{Kind: state.Health})
	if !ok {
		return []string{p.Dim.Render(" " + ui.Empty(false, err, ""))}
	}
	part := func(name string, status api.CheckStatus, more string) string {
		sign, style := "●", p.Good
		if status != api.CheckStatusOK {
			sign, style = "! "+string(status), p.Bad
		}
		return name + " " + style.Render(sign) + p.Dim.Render(more)
	}
	lines := []string{" " + strings.Join([]string{
		part("registry", h.Checks.Registry.Status, " "+ui.InMillis(h.Checks.Registry.LatencyMs)),
		part("store", h.Checks.Store.Status, " "+ui.InMillis(h.Checks.Store.LatencyMs)),
		part("queue", h.Checks.Queue.Status, fmt.Sprintf(" %d/%d", h.Checks.Queue.PendingJobs, h.Checks.Queue.QueueMax)),
		part("versions", h.Checks.Versions.Status, ""),
	}, "   ")}
	if t := h.Checks.Tokens; t.Status != "" && t.Status != api.CheckStatusOK {
		lines[0] += "   " + part("tokens", t.Status, "")
	}
	info, ok, _ := state.Get[api.Server](s, state.Need{Kind: state.Server})
	if ok {
		first := " " + p.Bold.Render("svcctl "+ui.Clean(info.Version)) + p.Dim.Render("  up "+ui.Age(s.Now, info.StartedAt.Time))
		lines = append([]string{first + room(info.State, p)}, lines...)
	}
	return append(lines, "")
}

// traffic draws the requests and errors of all projects.
func (*Screen) traffic(s *state.State, p ui.Page) []string {
	t, ok, _ := state.Get[api.MetricsSummary](s, state.Need{Kind: state.Traffic})
	if !ok {
		return nil
	}
	w := min(p.W-30, 60)
	figure := func(name, value, more string) string { return fmt.Sprintf(" %-9s%11s  %s", name, value, more) }
	return []string{
		figure("requests", ui.Rate(t.Total, t.WindowSeconds)+"/s", p.Good.Render(spark(t.Total.Samples, w))),
		figure("errors", ui.Share(t.Total), p.Bad.Render(spark(t.Total.ErrorSamples, w))),
		figure("p95", ui.P95(t.Total), p.Good.Render(spark(t.Total.P95Samples, w))),
		figure("memory", memory(s), p.Good.Render(spark(s.Memory, w))),
		figure("sent", ui.Sent(t.Total, t.WindowSeconds), fmt.Sprintf("exceptions %d", t.Total.Exceptions)),
		deploys(s, p),
	}
}

const (
	littleRoom = 10               // percent of the disk, as the alert SvcctlDiskFull
	longBehind = 60 * time.Second // as the alert SvcctlDataBehind
)

// room says what the disk has left, and how far the object store is behind with the data.
func room(o api.ServerState, p ui.Page) string {
	if o.DiskTotalBytes == 0 { // an older server
		return ""
	}
	disk, behind := &p.Dim, &p.Dim
	if o.DiskFreeBytes*100 < o.DiskTotalBytes*littleRoom {
		disk = &p.Bad
	}
	if o.DataBehindSeconds > longBehind.Seconds() {
		behind = &p.Bad
	}
	return disk.Render("   disk "+ui.Bytes(o.DiskFreeBytes)+" of "+ui.Bytes(o.DiskTotalBytes)+" free") + behind.Render(fmt.Sprintf("   data behind %.0fs", o.DataBehindSeconds))
}

// alerts lists what does not serve and what failed.
func (*Screen) alerts(s *state.State, p ui.Page) (lines []string) {
	h, _, _ := state.Get[api.DeepHealth](s, state.Need{Kind: state.Health})
	if info, _, _ := state.Get[api.Server](s, state.Need{Kind: state.Server}); info.State.DiskFreeBytes*100 < info.State.DiskTotalBytes*littleRoom {
		lines = append(lines, " "+p.Bad.Render("! disk almost full  "+ui.Bytes(info.State.DiskFreeBytes)+" free: svcctl admin gc"))
	}
	if e, ok := lastSweep(s); ok && e.Data.Error != "" {
		lines = append(lines, " "+p.Bad.Render("! gc failed "+ui.Age(s.Now, e.Time.Time)+" ago")+"  "+p.Dim.Render(ui.Clean(e.Data.Error)))
	}
	for _, ref := range h.Checks.Versions.NotServing {
		lines = append(lines, " "+p.Bad.Render("! does not serve  "+ui.Clean(ref)))
	}
	failed, _, _ := state.Get[[]api.Version](s, state.Need{Kind: state.Broken})
	for _, v := range failed {
		lines = append(lines, " "+p.Bad.Render("✗ failed "+ui.Age(s.Now, v.UpdatedAt.Time)+" ago  "+ui.Clean(v.ProjectID+"/"+v.ID))+"  "+p.Dim.Render(ui.Clean(ui.Failure(v))))
	}
	if most := max(p.H/4, 2); len(lines) > most {
		lines = append(lines[:most], p.Dim.Render(fmt.Sprintf(" and %d more", len(lines)-most)))
	}
	if len(lines) > 0 {
		lines = append([]string{""}, lines...)
	}
	return lines
}

// Update implements ui.Screen.
func (c *Screen) Update(k tea.KeyMsg, s *state.State) ui.Intent {
	rows := c.rows(s, &ui.Theme{})
	if row, ok := c.Selected(rows); ok {
		switch k.String() {
		case "enter":
			return ui.Go{Place: ui.Place{Screen: "versions", Project: row.ID}}
		case "l":
			return ui.Go{Place: ui.Place{Screen: "logs", Project: row.ID}}
		}
	}
	if failed, _, _ := state.Get[[]api.Version](s, state.Need{Kind: state.Broken}); k.String() == "a" && len(failed) > 0 {
		return ui.Go{Place: ui.Place{Screen: "version", Project: failed[0].ProjectID, Version: failed[0].ID}}
	}
	c.Table.Update(k, rows)
	return nil
}

// Keys implements ui.Screen.
func (*Screen) Keys() []key.Binding {
	return []key.Binding{ui.Key("versions", "enter"), ui.Key("logs", "l"), ui.Key("alert; opens the newest failed version", "a")}
}

// Click implements ui.Clicked.
func (c *Screen) Click(y int, s *state.State) { c.Table.Click(y-c.above, c.rows(s, &ui.Theme{})) }

// Wheel implements ui.Clicked.
func (c *Screen) Wheel(by int, s *state.State) { c.Move(by, c.rows(s, &ui.Theme{})) }

// Choose implements ui.Numbered.
func (c *Screen) Choose(n int, s *state.State) bool { return c.Select(n, c.rows(s, &ui.Theme{})) }
