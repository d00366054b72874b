package dashboard

import (
	"context"
	"net/http"
	"strings"

	"github.com/svcctl/svcctl/pkg/api"
)

// envBody lists the variables of a version.
type envBody struct {
	Items       []api.EnvEntry
	ETag        string // of the state that the page shows
	Reveal      bool
	Name, Value string // in the form, of the variable that is changed
}

// env lists the variables. A token that reads gets no values.
func env(c *call, v api.Version) (any, error) {
	list, err := c.api.Env(c.r.Context(), v.ProjectID, v.ID)
	body := envBody{Items: list.Items, ETag: list.ETag, Reveal: c.session.mayWrite() && c.r.URL.Query().Has("reveal"), Name: c.r.URL.Query().Get("edit")}
	for _, e := range list.Items {
		if e.Key == body.Name && (body.Reveal || c.session.mayWrite() && e.Source == api.EnvSourceBundle) {
			body.Value = e.Value
		}
	}
	return body, err
}

// setEnv sets or deletes one override and keeps the others. It is refused when the
// variables are others than the page showed.
func (d *Dashboard) setEnv(c *call) error {
	ref, name := c.ref(), strings.TrimSpace(c.r.PostFormValue("name"))
	if name == "" {
		return &statusError{http.StatusBadRequest, "The name of the variable is missing."}
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), actionTime)
	defer cancel()
	list, err := c.api.Env(ctx, ref.Project, ref.Version)
	if err != nil {
		return err
	}
	vars, note := list.Overrides(), name+" set."
	if c.r.PostFormValue("do") == "unset" {
		delete(vars, name)
		note = name + " deleted."
	} else {
		vars[name] = typed(c.r.PostFormValue("value"))
	}
	if _, err := c.api.SetEnv(ctx, ref.Project, ref.Version, vars, c.r.PostFormValue("etag")); err != nil {
		return err
	}
	return d.done(c, versionURL(ref.Project, ref.Version, "env"), note)
}
