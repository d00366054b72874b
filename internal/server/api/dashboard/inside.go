package dashboard

import (
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// inside returns a view of one side of a version: what part reads of it.
func (d *Dashboard) inside(tab string, part func(c *call, v api.Version) (any, error)) view {
	return func(c *call) error {
		ref := c.ref()
		v, err := c.api.Version(c.r.Context(), ref.Project, ref.Version)
		if err != nil {
			return err
		}
		body, err := part(c, v)
		if err != nil {
			return err
		}
		return d.showVersion(c, tab, v, body)
	}
}

// bindings lists what the worker is bound to.
func bindings(c *call, v api.Version) (any, error) {
	return c.api.Bindings(c.r.Context(), v.ProjectID, v.ID)
}

// processBody says what runs a version and how requests come to it.
type processBody struct {
	Routes []api.Route
	Crons  api.CronList
	Runs   []api.CronRun
}

// process shows the runtime, the host names and the crons.
func process(c *call, v api.Version) (any, error) {
	var body processBody
	list, err := c.api.Routes(c.r.Context())
	if err != nil {
		return nil, err
	}
	for _, r := range list.Items {
		if r.ProjectID == v.ProjectID && r.VersionID == v.ID {
			body.Routes = append(body.Routes, r)
		}
	}
	if v.Status != api.VersionStatusReady || !c.session.mayWrite() {
		return body, nil // crons are data of the version
	}
	if body.Crons, err = c.api.Crons(c.r.Context(), v.ProjectID, v.ID); err != nil || len(body.Crons.Items) == 0 {
		return body, err
	}
	runs, err := c.api.CronRuns(c.r.Context(), v.ProjectID, v.ID, client.Page{Limit: 20})
	body.Runs = runs.Items
	return body, err
}
