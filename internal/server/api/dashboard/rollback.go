package dashboard

import (
	"context"
	"errors"
	"net/http"

	"github.com/svcctl/svcctl/pkg/client"
)

// back returns where a rollback of a project leads; nil without an earlier production, and for a
// session that may not roll back.
func (c *call) back(ctx context.Context, project string) (*client.Rollback, error) {
	if !c.session.mayWrite() {
		return nil, nil // there is no way back
	}
	to, err := c.api.RollbackTarget(ctx, project)
	if errors.Is(err, client.ErrNoPrevious) {
		return nil, nil // there is no way back
	}
	if err != nil {
		return nil, err
	}
	return &to, nil
}

// askRollback shows what a rollback changes. After a release there are two ways: with the data
// kept, and with the data of before.
func (d *Dashboard) askRollback(c *call) error {
	if !c.session.mayWrite() {
		return errReadOnly()
	}
	project, way := c.r.PathValue("project"), c.r.URL.Query().Get("data")
	to, err := c.back(c.r.Context(), project)
	switch {
	case err != nil:
		return err
	case to == nil:
		return &statusError{http.StatusConflict, "Production of " + project + " has no version before it: there is nothing to roll back to."}
	case way == "keep":
		return d.releasePlan(c, project, to.Version, releaseBody{Rollback: true})
	case way == "restore" || !to.Released:
		return d.plan(c, project, to.Version, promoteBody{Back: to})
	}
	d.render(c, "rollback", page{Title: "Roll back " + project, Place: place{Project: project}, Body: to})
	return nil
}
