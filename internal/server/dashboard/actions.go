package dashboard

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// actionTime is the time limit of an action. The server completes what it has begun.
const actionTime = 5 * time.Minute

// simple are the actions that need no question, with what the note says afterwards.
func simple(c *call) map[string]struct {
	do   func(ctx context.Context, project, version string) (api.Version, error)
	past string
} {
	type action = struct {
		do   func(ctx context.Context, project, version string) (api.Version, error)
		past string
	}
	return map[string]action{
		"archive": {c.api.Archive, "archived"}, "wake": {c.api.Wake, "woken"}, "pin": {c.api.Pin, "pinned"}, "unpin": {c.api.Unpin, "unpinned"},
	}
}

// act does an action that needs no question.
func (d *Dashboard) act(c *call) error {
	ref := c.ref()
	action, ok := simple(c)[c.r.PathValue("action")]
	if !ok {
		return &statusError{http.StatusNotFound, "There is no such action."}
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), actionTime)
	defer cancel()
	if _, err := action.do(ctx, ref.Project, ref.Version); err != nil {
		return err
	}
	return d.done(c, versionURL(ref.Project, ref.Version), ref.String()+" "+action.past+".")
}

// promoteBody is the plan of a promote.
type promoteBody struct {
	Version  api.Version
	Old      *api.Version // production now
	Rollback bool
	Changes  []api.Difference  // of the bundles and variables; empty when a bundle is gone
	Left     api.PromotionPlan // what the promote leaves behind; empty when it is not counted in time
}

// countTime is the time limit for the count of what a promote leaves behind.
const countTime = 5 * time.Second

// askPromote shows what a promote changes.
func (d *Dashboard) askPromote(c *call) error {
	ref := c.ref()
	return d.plan(c, ref.Project, ref.Version, false)
}

// previous returns the version that a rollback of a project restores; "" without one, and
// for a session that may not roll back.
func (c *call) previous(ctx context.Context, project string) (string, error) {
	if !c.session.mayWrite() {
		return "", nil
	}
	id, err := c.api.PreviousProduction(ctx, project)
	if errors.Is(err, client.ErrNoPrevious) {
		return "", nil
	}
	return id, err
}

// askRollback shows what a rollback changes.
func (d *Dashboard) askRollback(c *call) error {
	if !c.session.mayWrite() {
		return errReadOnly()
	}
	project := c.r.PathValue("project")
	previous, err := c.previous(c.r.Context(), project)
	if err != nil {
		return err
	}
	if previous == "" {
		return &statusError{http.StatusConflict, "Production of " + project + " has no version before it: there is nothing to roll back to."}
	}
	return d.plan(c, project, previous, true)
}

func (d *Dashboard) plan(c *call, project, version string, rollback bool) error {
	body := promoteBody{Rollback: rollback}
	p, err := c.api.Project(c.r.Context(), project)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(c.r.Context())
	group.Go(func() (err error) { body.Version, err = c.api.Version(ctx, project, version); return err })
	if p.ProdVersionID != "" {
		group.Go(func() error {
			old, err := c.api.Version(ctx, project, p.ProdVersionID)
			body.Old = &old
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if body.Old != nil && body.Old.ID != version {
		if both, err := c.api.Compare(c.r.Context(), project, body.Old.ID, version); err == nil {
			body.Changes = both.Differences
		}
		counting, cancel := context.WithTimeout(c.r.Context(), countTime)
		defer cancel()
		if left, err := c.api.PromotionPlan(counting, project, version); err == nil {
			body.Left = left
		}
	}
	title := "Promote " + version
	if rollback {
		title = "Roll back to " + version
	}
	d.render(c, "promote", page{Title: title, Place: place{project, version}, Body: body})
	return nil
}

// promote promotes a version over the production that the plan showed.
func (d *Dashboard) promote(c *call) error {
	ref, expected := c.ref(), c.r.PostFormValue("expected")
	ctx, cancel := context.WithTimeout(c.r.Context(), actionTime)
	defer cancel()
	accepted, err := c.api.Promote(ctx, ref.Project, ref.Version, api.PromoteVersion{
		ExpectedProdVersionID: &expected, Reason: cmp.Or(c.r.PostFormValue("reason"), "dashboard"),
		LeaveWrites: true, // the form has shown them
	})
	if err == nil && accepted.Status != api.PromotionStatusUnchanged {
		_, err = c.api.WaitPromotion(ctx, ref.Project, accepted.OperationID)
	}
	if err != nil {
		return err
	}
	return d.done(c, projectURL(ref.Project), ref.Version+" is production.")
}

// destroyBody is the question before a version is destroyed.
type destroyBody struct {
	Version  api.Version
	Children int
	Wrong    bool // another id was typed
}

// askDestroy asks for the id of the version.
func (d *Dashboard) askDestroy(c *call) error { return d.question(c, false) }

func (d *Dashboard) question(c *call, wrong bool) error {
	ref, body := c.ref(), destroyBody{Wrong: wrong}
	v, err := c.api.Version(c.r.Context(), ref.Project, ref.Version)
	if err != nil {
		return err
	}
	tree, err := c.api.Branches(c.r.Context(), ref.Project)
	if err != nil {
		return err
	}
	for _, b := range tree.Items {
		if b.VersionID == ref.Version {
			body.Children = b.Children
		}
	}
	body.Version = v
	d.render(c, "destroy", page{Title: "Destroy " + ref.Version, Place: place(ref), Body: body})
	return nil
}

// destroy destroys a version whose id was typed.
func (d *Dashboard) destroy(c *call) error {
	ref := c.ref()
	if c.r.PostFormValue("id") != ref.Version {
		return d.question(c, true)
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), actionTime)
	defer cancel()
	if _, err := c.api.Destroy(ctx, ref.Project, ref.Version); err != nil {
		return err
	}
	return d.done(c, projectURL(ref.Project), ref.String()+" destroyed.")
}
