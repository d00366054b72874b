package activity

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/svcctl/svcctl/internal/client/tui/screen/ask"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/internal/client/unmerged"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// Screen is the screen.
type Screen struct {
	ui.Table

	promoted []string // the first projects with a promotion among the events of the last view
}

// New makes the screen.
func New(ui.Place) *Screen {
	return &Screen{Table: ui.Table{Columns: []ui.Column{
		{Name: "TIME", Width: 8}, {Name: "OF", Width: 24}, {Name: "WHAT", Width: 40, Flex: true},
	}}}
}

// Needs implements ui.Screen.
func (c *Screen) Needs() []state.Need {
	needs := []state.Need{{Kind: state.Queue}, {Kind: state.History}}
	for _, project := range c.promoted {
		needs = append(needs, state.Need{Kind: state.Promotions, Project: project})
	}
	return needs
}

// maxPromoted is how many projects are asked for the promotions behind events.
const maxPromoted = 5

// promotion returns the promotion that an event is the end of.
func (c *Screen) promotion(s *state.State, e api.Event) (p api.Promotion, ok bool) {
	if e.Type != "promotion.done" || e.Data.Status != string(api.PromotionStatusDone) {
		return p, false
	}
	if !slices.Contains(c.promoted, e.ProjectID) && len(c.promoted) < maxPromoted {
		c.promoted = append(c.promoted, e.ProjectID)
	}
	list, _, _ := state.Get[[]api.Promotion](s, state.Need{Kind: state.Promotions, Project: e.ProjectID})
	i := slices.IndexFunc(list, func(o api.Promotion) bool { return o.OperationID == e.Data.OperationID })
	if i < 0 {
		return p, false
	}
	return list[i], true
}

// queued begins the id of a row of the queue.
const queued = "q:"

func (c *Screen) rows(s *state.State, t *ui.Theme) []ui.Row {
	queue, _, _ := state.Get[api.DeployQueue](s, state.Need{Kind: state.Queue})
	var rows []ui.Row
	for _, q := range queue.Items {
		what, style := fmt.Sprintf("◌ waits, place %d", q.Position), &t.Dim
		if q.Running {
			what, style = "◌ deploys", &t.Warn
		}
		rows = append(rows, ui.Row{ID: queued + q.ProjectID + "/" + q.VersionID, Cells: []ui.Cell{
			ui.Text(q.QueuedAt.UTC().Format("15:04:05"), &t.Dim), ui.Text(q.ProjectID + "/" + q.VersionID),
			ui.Text(fmt.Sprintf("%s: %s for %s", what, q.Status, ui.Age(s.Now, q.QueuedAt.Time)), style),
		}})
	}
	c.promoted = nil
	seen := int64(1 << 62)
	add := func(e api.Event) {
		if e.ID >= seen {
			return
		}
		seen = e.ID
		if of, said, style := c.describe(s, t, e); said != "" {
			rows = append(rows, ui.Row{ID: fmt.Sprint(e.ID), Search: e.Type, Cells: []ui.Cell{
				ui.Text(e.Time.UTC().Format("15:04:05"), &t.Dim), ui.Text(of), ui.Text(said, style),
			}})
		}
	}
	for _, e := range slices.Backward(s.Events) {
		add(e)
	}
	history, _, _ := state.Get[[]api.Event](s, state.Need{Kind: state.History})
	for _, e := range slices.Backward(history) {
		add(e)
	}
	return rows
}

// describe says in words what an event means; said is "" for a part of another event.
func (c *Screen) describe(s *state.State, t *ui.Theme, e api.Event) (of, said string, style *lipgloss.Style) {
	d, style := e.Data, &t.Plain
	of, said = svc.FeedEvent{Type: e.Type, Project: e.ProjectID, Version: e.VersionID, Data: svc.FeedData{
		Status: d.Status, Previous: d.Previous, Detail: d.Detail, Error: d.Error, GitRef: d.GitRef, Action: d.Action, Actor: d.Actor,
	}}.Sentence()
	// The row is of the version, to which enter leads, and says who or what did it.
	if target := strings.TrimSuffix(e.ProjectID+"/"+e.VersionID, "/"); said != "" && of != target {
		of, said = target, of+" "+said
	}
	if p, ok := c.promotion(s, e); ok {
		said = became(p)
	}
	switch {
	case d.Error != "" || d.Status == "failed":
		style = &t.Bad
	case d.Status == "ready" || d.Status == "done":
		style = &t.Good
	}
	return of, said, style
}

// became says what a promotion did, and what it left behind.
func became(p api.Promotion) string {
	if p.Kind == api.PromotionKindRelease {
		return "became production: " + ui.Released(p)
	}
	const said = "became production"
	switch {
	case p.PreviousVersionID == "" || p.Unmerged == nil:
		return said
	case !unmerged.Left(p.Unmerged):
		return said + " (was " + p.PreviousVersionID + ")"
	case p.Unmerged.Reason != api.UnmergedReasonEmpty:
		return said + ": " + unmerged.Cut(*p.Unmerged, p.PreviousVersionID, p.VersionID)
	}
	n, atLeast := int64(0), ""
	for _, r := range unmerged.Rows(*p.Unmerged) {
		if n += r.Inserted + r.Updated + r.Deleted; r.AtLeast {
			atLeast = "at least "
		}
	}
	return said + fmt.Sprintf(", %s%d writes left in %s", atLeast, n, p.PreviousVersionID)
}

// View implements ui.Screen.
func (c *Screen) View(s *state.State, p ui.Page) string {
	_, ok, err := state.Get[[]api.Event](s, state.Need{Kind: state.History})
	return c.Table.View(c.rows(s, p.Theme), p, ui.Empty(ok, err, "nothing happened in the last hour"))
}

// Update implements ui.Screen.
func (c *Screen) Update(k tea.KeyMsg, s *state.State) ui.Intent {
	rows := c.rows(s, &ui.Theme{})
	if c.Table.Update(k, rows) {
		return nil
	}
	row, ok := c.Selected(rows)
	if !ok {
		return nil
	}
	project, version, _ := strings.Cut(row.Cells[1].Text, "/")
	switch k.String() {
	case "enter":
		if version != "" {
			return ui.Go{Place: ui.Place{Screen: "version", Project: project, Version: version}}
		}
		if project != "" {
			return ui.Go{Place: ui.Place{Screen: "versions", Project: project}}
		}
	case "K":
		if !waits(s, project, version) { // also on a row of what happened in it
			return ui.Note{Text: "only a deploy that runs or waits can be canceled"}
		}
		return ask.Cancel(project, version)
	}
	return nil
}

// waits reports whether the deploy of a version is in the queue.
func waits(s *state.State, project, version string) bool {
	queue, _, _ := state.Get[api.DeployQueue](s, state.Need{Kind: state.Queue})
	return slices.ContainsFunc(queue.Items, func(q api.QueuedDeploy) bool { return q.ProjectID == project && q.VersionID == version })
}

// Keys implements ui.Screen.
func (*Screen) Keys() []key.Binding {
	return []key.Binding{ui.Key("the version", "enter"), ui.Key("cancel a deploy", "K")}
}

// Click implements ui.Clicked.
func (c *Screen) Click(y int, s *state.State) { c.Table.Click(y, c.rows(s, &ui.Theme{})) }

// Wheel implements ui.Clicked.
func (c *Screen) Wheel(by int, s *state.State) { c.Move(by, c.rows(s, &ui.Theme{})) }

// Choose implements ui.Numbered.
func (c *Screen) Choose(n int, s *state.State) bool { return c.Select(n, c.rows(s, &ui.Theme{})) }
