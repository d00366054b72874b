package dashboard

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// releaseBody is the plan of a release.
type releaseBody struct {
	Version  api.Version // whose code is released
	Plan     api.ReleasePlan
	Rollback bool   // the version is earlier code
	Refused  string // why the server refused the release of earlier code; "" before
}

// askRelease shows what a release does. A version whose data a release has continued is earlier code.
func (d *Dashboard) askRelease(c *call) error {
	ref := c.ref()
	return d.releasePlan(c, ref.Project, ref.Version, releaseBody{})
}

// releasePlan shows the plan of a release.
func (d *Dashboard) releasePlan(c *call, project, version string, body releaseBody) (err error) {
	ctx := c.r.Context()
	if body.Version, err = c.api.Version(ctx, project, version); err != nil {
		return err
	}
	if body.Plan, err = c.api.ReleasePlan(ctx, project, version); err != nil {
		return err
	}
	body.Rollback = body.Rollback || body.Version.HandedOverTo != ""
	p := page{Title: "Release " + version, Place: place{project, version}, Body: &body}
	if body.Rollback {
		p.Title = "Back to the code of " + version
	}
	if body.Refused != "" {
		p.Status = http.StatusConflict
	}
	d.render(c, "release", p)
	return nil
}

// release releases the code of a version over the production that the plan showed.
func (d *Dashboard) release(c *call) error {
	ref, expected, back := c.ref(), c.r.PostFormValue("expected"), c.r.PostFormValue("rollback") != ""
	ctx, cancel := context.WithTimeout(c.r.Context(), actionTime)
	defer cancel()
	accepted, err := c.api.Release(ctx, ref.Project, ref.Version, api.ReleaseVersion{
		VersionID: strings.TrimSpace(c.r.PostFormValue("id")), ExpectedProdVersionID: &expected, Reason: reasonOf(c, back),
		Rollback: back, Force: back && c.r.PostFormValue("force") != "",
	})
	if refused := (*client.Error)(nil); errors.As(err, &refused) && refused.Problem.Code == svc.CodeSchemaMoved {
		return d.releasePlan(c, ref.Project, ref.Version, releaseBody{Rollback: true, Refused: refused.Problem.Detail})
	}
	if err != nil {
		return err
	}
	p, err := c.api.WaitPromotion(ctx, ref.Project, accepted.OperationID)
	if err != nil {
		return err
	}
	return d.done(c, projectURL(ref.Project), p.VersionID+" is production: "+releasedAs(p)+".")
}

// reasonOf is the reason that the form gives. That of a rollback begins with the mark by which the
// next rollback knows it.
func reasonOf(c *call, back bool) string {
	given := c.r.PostFormValue("reason")
	if back {
		return strings.TrimSuffix(client.RollbackReason+": "+given, ": ")
	}
	return cmp.Or(given, "dashboard")
}

// releasedAs says in one line what a release did.
func releasedAs(p api.Promotion) string {
	text := "released " + p.CandidateVersionID + " as " + p.VersionID
	if p.HeldMs != nil {
		text += " · held " + millis(*p.HeldMs)
	}
	return text
}

// isRelease reports whether a promotion is a release.
func isRelease(p api.Promotion) bool { return p.Kind == api.PromotionKindRelease }
