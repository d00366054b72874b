package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// dryRun asks the server what a deploy would depend on. It reads only.
type dryRun struct {
	deployment

	built    *build.Result
	req      api.CreateVersion
	p        *planned
	settings map[string]string // of the server; nil without the admin token
}

// all makes every check in the order of a deploy.
func (r *dryRun) all(ctx context.Context) error {
	if r.k.NeedAdmin("") != nil {
		return r.withoutAdmin(ctx)
	}
	if err := r.readSettings(ctx); err != nil {
		return err
	}
	for _, check := range []func(context.Context) error{r.project, r.names, r.parent, r.bundle, r.callees} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	return nil
}

// withoutAdmin checks what the deploy token may: itself, and the bundle.
func (r *dryRun) withoutAdmin(ctx context.Context) error {
	if _, err := r.c.Whoami(ctx); err != nil {
		return err
	}
	r.p.Unchecked = []string{"project", "version", "parent", "services", "limits"}
	r.k.Notef("not checked without the admin token: %s", strings.Join(r.p.Unchecked, ", "))
	return r.bundle(ctx)
}

func (r *dryRun) readSettings(ctx context.Context) error {
	server, err := r.c.ServerInfo(ctx)
	if err != nil {
		return err
	}
	r.settings = map[string]string{}
	for _, s := range server.Settings {
		r.settings[s.Name] = s.Value
	}
	return nil
}

func (r *dryRun) project(ctx context.Context) error {
	p, err := r.c.Project(ctx, r.built.Project)
	if client.CodeOf(err) == svc.CodeProjectNotFound {
		r.p.CreatesProject = true
		err = r.newProject()
	}
	if err == nil && r.p.ParentVersionID == atProduction {
		if r.p.ParentVersionID = p.ProdVersionID; p.ProdVersionID == "" {
			return noProduction(r.built.Project)
		}
	}
	if err == nil && !r.p.CreatesProject && r.req.PreviewName != "" && r.p.ParentVersionID == "" {
		r.p.ParentVersionID = previewParent(ctx, r.c, p, r.req)
	}
	return err
}

// newProject checks the id of a project that the deploy creates, as the server does.
func (r *dryRun) newProject() error {
	id := r.built.Project
	if err := svc.CheckProjectID(id); err != nil {
		return err
	}
	own := append(strings.Split(r.settings["SVC_API_HOSTS"], ","), r.settings["SVC_API_URL"], r.settings["GATEWAY_URL"])
	return svc.CheckProjectHost(id, id+"."+r.settings["SVC_INGRESS_BASE_DOMAIN"], own)
}

// names checks that the id and the preview name are free.
func (r *dryRun) names(ctx context.Context) error {
	if r.p.CreatesProject {
		return nil
	}
	if r.req.ID == "" {
		return r.previewNames(ctx)
	}
	v, err := r.c.Version(ctx, r.built.Project, r.req.ID)
	switch {
	case kit.ExitCode(err) == kit.ExitNotFound:
		return r.previewNames(ctx)
	case err != nil:
		return err
	case r.o.release && v.Status == api.VersionStatusFailed:
		return nil // the release takes the next number
	case v.Status == api.VersionStatusFailed || v.Status == api.VersionStatusDestroyed:
		return taken(r.req.ID, "exists and is "+string(v.Status))
	case v.ArtifactDigest != "" && v.ArtifactDigest != r.built.Digest:
		return taken(r.req.ID, "exists with another artifact_digest")
	}
	r.p.VersionExists = true
	return nil
}

// noProduction is the refusal of --parent production in a project without one.
func noProduction(project string) error {
	e := svc.Errorf(svc.Unprocessable, svc.CodeNoProduction, "project %s has no production version", project).WithHint("use --parent none, or name a version")
	return e.At("/parent_version_id")
}

func taken(id, how string) error {
	return svc.Errorf(svc.Conflict, svc.CodeVersionExists, "version %q %s", id, how).
		WithHint("choose another id, or omit it to get a generated one; ids are never used twice")
}

// previewNames checks that an id is no preview name, and a preview name no id.
func (r *dryRun) previewNames(ctx context.Context) error {
	var err error
	name, what := r.req.ID, "the id %q is a preview name"
	switch {
	case name != "":
		_, err = r.c.Preview(ctx, r.built.Project, name)
	case r.req.PreviewName != "":
		name, what = r.req.PreviewName, "the preview name %q is or was the id of a version"
		_, err = r.c.Version(ctx, r.built.Project, name)
	default:
		return nil
	}
	if kit.ExitCode(err) == kit.ExitNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return svc.Errorf(svc.Conflict, svc.CodePreviewNameTaken, what, name).WithHint("choose another: both would have one host name")
}

// parent checks that the parent has data to fork, by the rules of the server.
func (r *dryRun) parent(ctx context.Context) error {
	id := r.p.ParentVersionID
	if id == "" || r.p.VersionExists {
		return nil
	}
	v, err := r.c.Version(ctx, r.built.Project, id)
	if kit.ExitCode(err) == kit.ExitNotFound {
		return ofParent(svc.NoParent(r.built.Project, id))
	}
	if err != nil {
		return err
	}
	r.p.ParentStatus = string(v.Status)
	parent := svc.Version{Ref: svc.Ref{Project: v.ProjectID, Version: v.ID}, Status: svc.Status(v.Status), Production: v.IsProduction}
	if v.ReadyAt != nil {
		parent.ReadyAt = v.ReadyAt.Time
	}
	_, err = svc.ForkPolicy{
		PRRefs: strings.Split(r.settings["SVC_PR_REFS"], ","), Production: svc.ProdFork(r.settings["SVC_PROD_FORK"]),
	}.Check(r.p.GitRef, parent)
	if err == nil {
		return nil
	}
	return ofParent(svc.AsError(err))
}

// ofParent names the flag --parent, unless it is right and the state of the parent is not.
func ofParent(e *svc.Error) error {
	if e.Code != svc.CodeParentNotReady && e.Code != svc.CodeForkOfProduction {
		e.Fields = []svc.FieldError{{Pointer: "/parent_version_id", Code: e.Code, Detail: e.Detail}}
	}
	return e
}

// bundle checks the bundle as the server does that unpacks it.
func (r *dryRun) bundle(ctx context.Context) error {
	err := bundle.CheckFile(ctx, r.built.File, r.limits())
	if err == nil {
		return nil
	}
	return &kit.WouldFailError{Cause: err}
}

// limits are those of the server, as far as it says them.
func (r *dryRun) limits() bundle.Limits {
	size := func(name string) int64 {
		n, err := config.Size(r.settings[name])
		if err != nil {
			return 0 // the default
		}
		return n
	}
	files, _ := strconv.Atoi(r.settings["SVC_MAX_BUNDLE_FILES"]) // 0 is the default
	return bundle.Limits{Modules: size("SVC_MAX_MODULES_SIZE"), Asset: size("SVC_MAX_ASSET_SIZE"), Total: size("SVC_MAX_BUNDLE_SIZE"), Files: files}
}

// callees checks that the projects exist that the worker calls.
func (r *dryRun) callees(ctx context.Context) error {
	for _, name := range (configured{file: r.built.Config}).needs() {
		if slices.Contains(r.o.dry.together, name) {
			continue
		}
		_, err := r.c.Project(ctx, name)
		if client.CodeOf(err) == svc.CodeProjectNotFound {
			return &kit.WouldFailError{Cause: svc.Errorf(svc.Unprocessable, svc.CodeServiceNotFound, "the worker calls %s: there is no project %[1]s", name).
				WithHint("correct the name, deploy the other project first, or deploy with --allow-missing services")}
		}
		if err != nil {
			return fmt.Errorf("reading project %s: %w", name, err)
		}
	}
	return nil
}
