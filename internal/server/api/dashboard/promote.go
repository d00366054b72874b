package dashboard

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// promoteBody is the plan of a promote.
type promoteBody struct {
	Version api.Version
	Old     *api.Version     // production now
	Back    *client.Rollback // of a rollback; nil for another promote
	Changes []api.Difference // of the bundles and variables; empty when a bundle is gone
	Left    api.PromotionPlan
	Counted bool    // Left is what the promote leaves behind
	Has     []store // data of production of which the version has nothing
	Wrong   bool    // another project was typed
	Refused bool    // the server asked for consent
}

// Stays reports whether writes of production stay behind, or may.
func (b promoteBody) Stays() bool {
	return b.Old != nil && b.Old.ID != b.Version.ID && (!b.Counted || stays(b.Left.Unmerged))
}

// Empty reports whether nothing of production's data is known to be in the version.
func (b promoteBody) Empty() bool { return b.Counted && apart(b.Left.Unmerged) }

// countTime is the time limit for the count of what a promote leaves behind.
const countTime = 5 * time.Second

// askPromote shows what a promote changes.
func (d *Dashboard) askPromote(c *call) error {
	ref := c.ref()
	return d.plan(c, ref.Project, ref.Version, promoteBody{})
}

// plan shows what a promote changes. body has what is known already.
func (d *Dashboard) plan(c *call, project, version string, body promoteBody) error {
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
		body.count(c)
	}
	title, status := "Promote "+version, http.StatusOK
	if body.Back != nil {
		title = "Roll back to " + version
	}
	if body.Refused {
		status = http.StatusConflict
	}
	d.render(c, "promote", page{Title: title, Status: status, Place: place{project, version}, Body: body})
	return nil
}

// count reads what differs between production and the version.
func (b *promoteBody) count(c *call) {
	if both, err := c.api.Compare(c.r.Context(), b.Old.ProjectID, b.Old.ID, b.Version.ID); err == nil {
		b.Changes = both.Differences
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), countTime)
	defer cancel()
	b.Counted = b.Left.Unmerged != nil
	if left, err := c.api.PromotionPlan(ctx, b.Old.ProjectID, b.Version.ID); err == nil {
		if b.Counted { // by the refusal of the server
			left.Unmerged = b.Left.Unmerged
		}
		b.Left, b.Counted = left, true
	}
	if b.Empty() && c.session.mayWrite() && b.Old.Status == api.VersionStatusReady {
		var has dataBody
		_ = has.listStores(c, *b.Old) // the text says it without counts as well
		b.Has = has.Stores
	}
}

// promote promotes a version over the production that the plan showed.
func (d *Dashboard) promote(c *call) error {
	ref, expected := c.ref(), c.r.PostFormValue("expected")
	body := promoteBody{}
	if before := c.r.PostFormValue("rollback"); before != "" {
		body.Back = &client.Rollback{Production: expected, Version: ref.Version, Released: before == "release"}
	}
	if c.r.PostFormValue("typed") != "" && c.r.PostFormValue("confirm") != ref.Project {
		body.Wrong = true
		return d.plan(c, ref.Project, ref.Version, body)
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), actionTime)
	defer cancel()
	accepted, err := c.api.Promote(ctx, ref.Project, ref.Version, api.PromoteVersion{
		ExpectedProdVersionID: &expected, Reason: reasonOf(c, body.Back != nil), LeaveWrites: c.r.PostFormValue("leave_writes") != "",
	})
	if refused := (*client.Error)(nil); errors.As(err, &refused) && refused.Problem.Code == svc.CodePromoteLeaves {
		body.Refused, body.Left.Unmerged = true, refused.Problem.Unmerged
		return d.plan(c, ref.Project, ref.Version, body)
	}
	if err != nil {
		return err
	}
	text := ref.Version + " is production."
	if accepted.Status != api.PromotionStatusUnchanged {
		p, err := c.api.WaitPromotion(ctx, ref.Project, accepted.OperationID)
		if err != nil {
			return err
		}
		text += rescue(p)
	}
	return d.done(c, projectURL(ref.Project), text)
}
