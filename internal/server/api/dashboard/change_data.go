package dashboard

import (
	"context"
	"net/http"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// changeData changes a key, a queue, or an instance of a workflow.
func (d *Dashboard) changeData(c *call) error {
	ref, action := c.ref(), c.r.PathValue("action")
	ctx, cancel := context.WithTimeout(c.r.Context(), actionTime)
	defer cancel()
	note, err := "", error(&statusError{http.StatusNotFound, "There is no such action."})
	to := versionURL(ref.Project, ref.Version, "data", c.r.PathValue("kind"), c.r.PathValue("name"))
	switch c.r.PathValue("kind") {
	case "kv":
		body := dataBody{}
		if action == "put" {
			to += body.link("key", c.r.PostFormValue("key"))
		}
		note, err = changeKey(ctx, c, client.KV{Project: ref.Project, Version: ref.Version, Binding: c.r.PathValue("name")}, action)
	case "queue":
		note, err = changeQueue(ctx, c, client.Queue{Project: ref.Project, Version: ref.Version, Name: c.r.PathValue("name")}, action)
	case "workflow":
		body := dataBody{}
		to += body.link("key", c.r.PostFormValue("key"))
		note, err = changeInstance(ctx, c, client.Workflow{Project: ref.Project, Version: ref.Version, Name: c.r.PathValue("name")}, action)
	}
	if err != nil {
		return err
	}
	return d.done(c, to, note)
}

func changeQueue(ctx context.Context, c *call, q client.Queue, action string) (note string, err error) {
	var n int
	switch action {
	case "pause":
		_, err = c.api.PauseQueue(ctx, q)
		return q.Name + " paused.", err
	case "resume":
		_, err = c.api.ResumeQueue(ctx, q)
		return q.Name + " resumed.", err
	case "redrive":
		n, err = c.api.RedriveQueue(ctx, q, api.RedriveQueue{})
		return q.Name + ": " + count(n, "dead message is", "dead messages are") + " delivered again.", err
	case "purge":
		if c.r.PostFormValue("id") != q.Name {
			return "", &statusError{http.StatusBadRequest, "This is another name: nothing was deleted."}
		}
		n, err = c.api.PurgeQueue(ctx, q)
		return q.Name + ": " + count(n, "message", "messages") + " deleted.", err
	}
	return "", &statusError{http.StatusNotFound, "There is no such action."}
}

func changeInstance(ctx context.Context, c *call, w client.Workflow, action string) (string, error) {
	change := map[string]func(context.Context, client.Workflow, string) (api.WorkflowInstanceDetail, error){
		"pause": c.api.PauseWorkflowInstance, "resume": c.api.ResumeWorkflowInstance, "terminate": c.api.TerminateWorkflowInstance,
	}[action]
	if change == nil {
		return "", &statusError{http.StatusNotFound, "There is no such action."}
	}
	i, err := change(ctx, w, c.r.PostFormValue("key"))
	return i.ID + " is " + i.Status + ".", err
}
