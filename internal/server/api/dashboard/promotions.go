package dashboard

import (
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// promotionsBody is a page of the promotions of a project.
type promotionsBody struct {
	Items []api.Promotion
	Next  string
}

// promotions lists the promotions of a project, newest first.
func (d *Dashboard) promotions(c *call) error {
	project, q := c.r.PathValue("project"), c.r.URL.Query()
	list, err := c.api.Promotions(c.r.Context(), project, client.Page{Limit: pageSize, Cursor: q.Get("cursor")})
	if err != nil {
		return err
	}
	d.render(c, "promotions", page{
		Title: "Promotions of " + project, Tab: "promotions", Place: place{Project: project}, Live: project, Body: promotionsBody{list.Items, deref(list.NextCursor)},
	})
	return nil
}

// promotionBody is one promotion with its steps.
type promotionBody struct {
	Promotion api.Promotion
	Groups    []stepGroup
}

// promotion shows one promotion with its steps.
func (d *Dashboard) promotion(c *call) error {
	project := c.r.PathValue("project")
	p, err := c.api.Promotion(c.r.Context(), project, c.r.PathValue("operation"))
	if err != nil {
		return err
	}
	d.render(c, "promotion", page{
		Title: "Promotion of " + p.VersionID, Tab: "promotions", Place: place{Project: project}, Live: project, Body: promotionBody{p, stepsOf(p.Steps, d.now())},
	})
	return nil
}
