package dashboard

import (
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// pageSize is the number of rows of a page.
const pageSize = 50

// versionRow is a version with its traffic and what it does now.
type versionRow struct {
	api.Version
	Traffic    api.Traffic
	Seconds    float64 // of the traffic's window
	Serves     bool    // the gateway has a route
	Inflight   int64
	Websockets int64
	Memory     int64 // bytes; 0 without a process
}

// versionFilter is what selects versions.
type versionFilter struct {
	Text, Status, Ref, Parent string
	Pinned                    bool
}

// Any reports whether the filter leaves versions out.
func (f versionFilter) Any() bool { return f != versionFilter{} }

// versionsBody is what the page of a project shows.
type versionsBody struct {
	Project  api.Project
	Back     *client.Rollback // where a rollback leads; nil for nowhere
	Traffic  api.Traffic
	Seconds  float64
	Rows     []versionRow
	Filter   versionFilter
	Statuses []svc.Status
	Next     string
}

// versions lists the versions of a project.
func (d *Dashboard) versions(c *call) error {
	q := c.r.URL.Query()
	body := versionsBody{
		Filter:   versionFilter{q.Get("q"), q.Get("status"), q.Get("ref"), q.Get("parent"), q.Get("pinned") != ""},
		Statuses: svc.Statuses(),
	}
	query := client.VersionQuery{Project: c.r.PathValue("project"), Text: body.Filter.Text, GitRef: body.Filter.Ref, Parent: body.Filter.Parent}
	if body.Filter.Status != "" {
		query.Statuses = []api.VersionStatus{api.VersionStatus(body.Filter.Status)}
	}
	if body.Filter.Pinned {
		query.Pinned = &body.Filter.Pinned
	}
	var list api.VersionPage
	var traffic api.MetricsSummary
	var routes api.RoutePage
	group, ctx := errgroup.WithContext(c.r.Context())
	group.Go(func() (err error) { body.Project, err = c.api.Project(ctx, query.Project); return err })
	group.Go(func() (err error) { body.Back, err = c.back(ctx, query.Project); return err })
	group.Go(func() (err error) { traffic, err = c.api.MetricsSummary(ctx, 0); return err })
	group.Go(func() (err error) { routes, err = c.api.ProjectRoutes(ctx, query.Project); return err })
	group.Go(func() (err error) {
		list, err = c.api.SearchVersions(ctx, query, client.Page{Limit: pageSize, Cursor: q.Get("cursor")})
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	body.Next, body.Seconds = deref(list.NextCursor), traffic.WindowSeconds
	for _, t := range traffic.Projects {
		if t.ProjectID == query.Project {
			body.Traffic = t
		}
	}
	items, err := c.productionFirst(body, list.Items, q.Get("cursor") == "")
	if err != nil {
		return err
	}
	for _, v := range items {
		body.Rows = append(body.Rows, rowOf(v, traffic, routes.Items))
	}
	d.render(c, "versions", page{Title: query.Project, Tab: "versions", Place: place{Project: query.Project}, Live: query.Project, Body: body})
	return nil
}

// productionFirst puts production before the newer versions of the first page. It is on that page
// however old it is, and on no other one; a filter may leave it out.
func (c *call) productionFirst(body versionsBody, items []api.Version, first bool) ([]api.Version, error) {
	id := body.Project.ProdVersionID
	i := slices.IndexFunc(items, func(v api.Version) bool { return v.ID == id })
	switch {
	case id == "", i < 0 && (!first || body.Filter.Any()), !first && body.Filter.Any():
		return items, nil
	case !first:
		return slices.Delete(items, i, i+1), nil
	case i >= 0:
		v := items[i]
		return slices.Insert(slices.Delete(items, i, i+1), 0, v), nil
	}
	v, err := c.api.Version(c.r.Context(), body.Project.ID, id)
	return slices.Insert(items, 0, v), err
}

func rowOf(v api.Version, traffic api.MetricsSummary, routes []api.Route) versionRow {
	row := versionRow{Version: v, Seconds: traffic.WindowSeconds}
	for _, t := range traffic.Versions {
		if t.ProjectID == v.ProjectID && t.VersionID == v.ID {
			row.Traffic = t
		}
	}
	for _, r := range routes { // one for each of its host names
		if r.ProjectID == v.ProjectID && r.VersionID == v.ID && svc.Status(v.Status).Serves() {
			row.Serves, row.Memory = true, r.RSSBytes
			row.Inflight += r.Inflight
			row.Websockets += r.Websockets
		}
	}
	return row
}

// versionRow answers with one row of the list, after an event of its version.
func (d *Dashboard) versionRow(c *call) error {
	ref := c.ref()
	v, err := c.api.Version(c.r.Context(), ref.Project, ref.Version)
	if err != nil {
		return err
	}
	traffic, err := c.api.MetricsSummary(c.r.Context(), 0)
	if err != nil {
		return err
	}
	routes, err := c.api.ProjectRoutes(c.r.Context(), ref.Project)
	if err != nil {
		return err
	}
	d.execute(c, "versions", "version-row", page{Body: rowOf(v, traffic, routes.Items)})
	return nil
}
