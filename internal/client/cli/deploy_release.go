package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// checkLimits reads the flags that say when a release is undone.
func (o *deployOptions) checkLimits() error {
	if !o.release && !o.promote && o.limits != (releaseLimits{}) {
		return kit.Usagef("--check, --max-hold, --late-requests, --interrupt-events, --leave-instances and --watch are for --release")
	}
	return o.limits.read()
}

// production decides what becomes of production, which it returns, "" for none: --promote without
// --parent is a release if there is one, and a release without one is a first deploy. It also
// resolves the words of --parent.
func (d deployment) production(ctx context.Context, o *deployOptions, project string) (string, error) {
	if !o.release && (!o.promote || o.parent != "") {
		o.parent = resolveParent(ctx, d.c, project, o.parent)
		return "", nil
	}
	p, err := d.c.Project(ctx, project)
	if err != nil && client.CodeOf(err) != svc.CodeProjectNotFound {
		return "", err
	}
	if p.ProdVersionID == "" {
		if o.release {
			d.k.Notef("%s has no production yet: its first deploy becomes production", project)
		}
		o.release, o.promote, o.parent = false, true, ""
		return "", nil
	}
	o.release, o.promote, o.parent = true, false, atProduction
	return p.ProdVersionID, nil
}

// candidate is a version that rehearses a release, and what it is to be released as.
type candidate struct {
	deployment

	name       string          // of the worker, if there are several
	production string          // that it rehearses on
	target     target          // what it becomes
	version    api.Version     // ready
	plan       api.ReleasePlan // the zero value if the server did not say
}

// rehearse deploys the candidate and waits until it is ready. A version that is released already, or
// whose release runs, needs none.
func (d deployment) rehearse(ctx context.Context, progress *kit.Progress, built *build.Result, req api.CreateVersion, production string) (*candidate, error) {
	r := &candidate{deployment: d, production: production}
	var err error
	if r.target, err = d.findTarget(ctx, built.Project, built.Digest); err != nil || r.target.settled() {
		progress.Done("")
		return r, err
	}
	req.Events = api.CreateVersionEventsOff
	accepted, err := r.create(ctx, creation{k: d.k, c: d.c, progress: progress, built: built, timeout: d.o.timeout}, req)
	switch code := client.CodeOf(err); {
	case code == svc.CodeParentNotReady, code == svc.CodeForkOfProduction:
		return nil, err
	case err != nil:
		return nil, kit.InFlags(err, deployFlags())
	}
	progress.Done("")
	if r.version, err = d.ready(ctx, built, accepted); err != nil {
		return nil, err
	}
	d.j.ended(r.version)
	r.plan, err = d.c.ReleasePlan(ctx, r.version.ProjectID, r.version.ID)
	d.k.Notef("%s", r.readiness(err == nil))
	return r, nil
}

// readiness says what the rehearsal found.
func (r *candidate) readiness(planned bool) string {
	parts := []string{fmt.Sprintf("%s/%s is ready", r.version.ProjectID, r.version.ID)}
	if planned {
		if len(r.plan.Migrations) > 0 {
			parts = append(parts, "migrations "+kit.Clean(strings.Join(r.plan.Migrations, ", ")))
		}
		parts = append(parts, "expected hold "+holdOf(r.plan.ExpectedHoldMs))
	}
	return strings.Join(parts, "   ")
}

// release releases the candidate, and prints and notes the result.
func (r *candidate) release(ctx context.Context) error {
	k, j := r.k, r.j
	if r.target.production != nil {
		j.endGroup()
		v := *r.target.production
		j.report.Project, j.report.Version, j.report.PreviewURL = v.ProjectID, v.ID, v.PreviewURL
		j.ended(v)
		return k.Print(deployed{Version: v}, func() {
			k.Printf("%s/%s is production already, with the same code", v.ProjectID, v.ID)
			k.Printf("production: %s", kit.Clean(v.ProdURL))
		})
	}
	done, err := r.start(ctx)
	if err != nil {
		j.report.Error = cmp.Or(j.report.Error, err.Error())
		if !r.target.settled() {
			k.Notef("the candidate stays ready; to release it: svcctl release %s/%s", r.version.ProjectID, r.version.ID)
		}
		return err
	}
	v, err := r.c.Version(ctx, done.ProjectID, done.VersionID)
	if err != nil {
		return err
	}
	j.endGroup()
	j.report.Project, j.report.Version, j.report.PreviewURL = v.ProjectID, v.ID, v.PreviewURL
	j.report.Release = fmt.Sprintf("was %s, %s", done.PreviousVersionID, strings.ReplaceAll(done.facts(), "   ", ", "))
	j.ended(v)
	return k.Print(deployed{Version: v, Release: &done}, func() { showReleased(k, done) })
}

// start begins the release and waits for it, or waits for one that runs.
func (r *candidate) start(ctx context.Context) (released, error) {
	o := releaseOptions{project: r.version.ProjectID, version: r.target.id, reason: "deploy --release", timeout: r.o.timeout, limits: r.o.limits, expected: &r.production}
	if r.target.running == nil {
		return release(ctx, r.k, r.c, o, r.version.ID)
	}
	p := *r.target.running
	r.k.Notef("the release of %s/%s runs already: waiting for it", p.ProjectID, p.VersionID)
	project, err := r.c.Project(ctx, p.ProjectID)
	if err != nil {
		return released{}, err
	}
	return waitRelease(ctx, r.k, r.c, api.ReleaseAccepted{
		ProjectID: p.ProjectID, VersionID: p.VersionID, CandidateVersionID: p.CandidateVersionID, PreviousVersionID: p.PreviousVersionID,
		OperationID: p.OperationID, Status: p.Status, ProdURL: project.ProdURL,
	}, o)
}
