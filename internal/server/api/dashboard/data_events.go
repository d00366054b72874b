package dashboard

import (
	"fmt"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// showQueue shows the next messages of a queue, which stay in it.
func (b *dataBody) showQueue(c *call, v api.Version) error {
	q := client.Queue{Project: v.ProjectID, Version: v.ID, Name: b.Name}
	state, err := c.api.Queue(c.r.Context(), q)
	if err != nil {
		return err
	}
	b.Queue = &state
	list, err := c.api.PeekMessages(c.r.Context(), q, "", pageSize)
	g := grid{Columns: []string{"Sent", "State", "Attempts", "Body"}}
	for _, m := range list {
		g.Rows = append(g.Rows, []cell{{Text: clock(m.SentAt)}, {Text: string(m.State)}, {Text: fmt.Sprint(m.Attempts)}, {Text: clip(string(m.Body))}})
	}
	b.Grids = []grid{g}
	return err
}

// showWorkflow shows the instances of a workflow, or the steps of one.
func (b *dataBody) showWorkflow(c *call, v api.Version) error {
	q, w := c.r.URL.Query(), client.Workflow{Project: v.ProjectID, Version: v.ID, Name: b.Name}
	if b.Key = q.Get("key"); b.Key != "" {
		return b.showInstance(c, w)
	}
	page, err := c.api.WorkflowInstances(c.r.Context(), w, "", client.Page{Limit: pageSize, Cursor: q.Get("cursor")})
	if err != nil {
		return err
	}
	g := grid{Columns: []string{"Instance", "Status", "Step", "Created"}}
	for _, i := range page.Items {
		g.Rows = append(g.Rows, []cell{{Text: clip(i.ID), To: b.link("key", i.ID)}, {Text: i.Status}, {Text: clip(i.CurrentStep)}, {Text: clock(i.CreatedAt)}})
	}
	b.Grids = []grid{g}
	b.more(c, page.NextCursor)
	return nil
}

func (b *dataBody) showInstance(c *call, w client.Workflow) error {
	i, err := c.api.WorkflowInstance(c.r.Context(), w, b.Key)
	if err != nil {
		return err
	}
	b.Instance = &i
	g := grid{Columns: []string{"Step", "Type", "State", "Attempts", "Output"}, Note: i.Status}
	for _, s := range i.Steps {
		output := string(s.Output)
		if s.Error != nil {
			output = s.Error.Message
		}
		g.Rows = append(g.Rows, []cell{{Text: clip(s.Name)}, {Text: s.Type}, {Text: s.State}, {Text: fmt.Sprint(s.Attempts)}, {Text: clip(output)}})
	}
	b.Grids = []grid{g}
	return nil
}
