package dashboard

import (
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// overviewBody is what the first page shows.
type overviewBody struct {
	Server   api.Server
	Health   api.DeepHealth
	Summary  api.MetricsSummary
	Projects []api.Project
	More     bool
	Failed   []api.Version
	Queue    api.DeployQueue
}

// overview shows how the server does, and what is wrong.
func (d *Dashboard) overview(c *call) error {
	body := overviewBody{}
	group, ctx := errgroup.WithContext(c.r.Context())
	group.Go(func() (err error) { body.Server, err = c.api.ServerInfo(ctx); return err })
	group.Go(func() (err error) { body.Health, err = c.api.DeepHealth(ctx); return err })
	group.Go(func() (err error) { body.Queue, err = c.api.DeployQueue(ctx); return err })
	group.Go(func() error {
		page, err := c.api.SearchVersions(ctx, client.VersionQuery{Statuses: []api.VersionStatus{api.VersionStatusFailed}, Since: "24h"}, client.Page{Limit: 8})
		body.Failed = page.Items
		return err
	})
	group.Go(func() (err error) { body.Summary, err = c.api.MetricsSummary(ctx, 0); return err })
	group.Go(func() error {
		list, err := c.api.ProjectSummaries(ctx, client.Page{Limit: pageSize})
		body.Projects, body.More = list.Items, list.NextCursor != nil
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	d.render(c, "overview", page{Title: "Overview", Tab: "overview", Live: "*", Body: body})
	return nil
}

// projectsBody is a page of the list of projects.
type projectsBody struct {
	Projects []api.Project
	Next     string
}

// projects lists the projects.
func (d *Dashboard) projects(c *call) error {
	list, err := c.api.ProjectSummaries(c.r.Context(), client.Page{Limit: pageSize, Cursor: c.r.URL.Query().Get("cursor")})
	if err != nil {
		return err
	}
	d.render(c, "projects", page{Title: "Projects", Tab: "projects", Live: "*", Body: projectsBody{list.Items, deref(list.NextCursor)}})
	return nil
}

// createProject creates a project.
func (d *Dashboard) createProject(c *call) error {
	p, err := c.api.CreateProject(c.r.Context(), api.CreateProject{ID: strings.TrimSpace(c.r.PostFormValue("id"))})
	if err != nil {
		return err
	}
	return d.done(c, projectURL(p.ID), "Project "+p.ID+" created.")
}
