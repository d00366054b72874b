package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/pkg/api"
)

// bulkBody is the question before several versions are destroyed.
type bulkBody struct {
	IDs   []string
	Wrong bool // another number was typed
}

// bulk does an action with all marked versions of a project. It continues after an error, and
// says which versions failed.
func (d *Dashboard) bulk(c *call) error {
	project, name, ids := c.r.PathValue("project"), c.r.PostFormValue("do"), c.r.PostForm["version"]
	action, ok := simple(c)[name]
	switch {
	case len(ids) == 0:
		return d.done(c, projectURL(project), "No version is marked.")
	case name == "destroy" && c.r.PostFormValue("id") != strconv.Itoa(len(ids)):
		d.render(c, "bulk", page{Title: "Destroy versions", Place: place{Project: project}, Body: bulkBody{ids, c.r.PostForm.Has("id")}})
		return nil
	case name == "destroy":
		action.do, action.past = c.api.Destroy, "destroyed"
	case !ok:
		return &statusError{http.StatusNotFound, "There is no such action."}
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), actionTime)
	defer cancel()
	return d.noted(c, projectURL(project), each(ctx, project, ids, action.do, action.past))
}

// each does an action with versions, one after the other, and returns what became of them.
func each(ctx context.Context, project string, ids []string, do func(context.Context, string, string) (api.Version, error), past string) note {
	var failed []string
	for _, id := range ids {
		if _, err := do(ctx, project, id); err != nil {
			failed = append(failed, fmt.Sprintf("%s: %s", id, err))
		}
	}
	text := count(len(ids)-len(failed), "version", "versions") + " " + past + "."
	if len(failed) > 0 {
		text += " Not " + past + ": " + strings.Join(failed, "; ")
	}
	return note{text, len(failed) > 0}
}
