package httpapi

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// ListProjects answers GET /projects.
func (h handlers) ListProjects(ctx context.Context, r oas.ListProjectsRequestObject) (oas.ListProjectsResponseObject, error) {
	if include := r.Params.Include; include != nil && *include != api.ListProjectsParamsIncludeSummary {
		return nil, svc.Errorf(svc.BadRequest, svc.CodeInvalidInclude, "include must be summary")
	}
	scope := scopeOf("projects")
	at, err := pageOf(scope, r.Params.Limit, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	page, err := h.Projects.ListProjects(ctx, at)
	if err != nil {
		return nil, err
	}
	items := each(page.Items, h.projectOut)
	if r.Params.Include != nil {
		if err := h.summarize(ctx, items); err != nil {
			return nil, err
		}
	}
	return oas.ListProjects200JSONResponse{Items: items, NextCursor: newCursor(scope, page.Next)}, nil
}

// CreateProject answers POST /projects [D8].
func (h handlers) CreateProject(ctx context.Context, r oas.CreateProjectRequestObject) (oas.CreateProjectResponseObject, error) {
	wanted := svc.Project{ID: r.Body.ID, GitRemote: r.Body.GitRemote}
	if err := wanted.Validate(); err != nil {
		return nil, err
	}
	if err := h.hostIsFree(ctx, wanted.ID); err != nil {
		return nil, err
	}
	exchangeOf(ctx).changes.ref.Project = wanted.ID
	p, created, err := h.Projects.CreateProject(ctx, wanted)
	if err != nil {
		return nil, err
	}
	out, etag := h.projectOut(p), projectTag(p)
	if !created {
		return oas.CreateProject200JSONResponse{Body: out, Headers: oas.CreateProject200ResponseHeaders{ETag: etag}}, nil
	}
	return oas.CreateProject201JSONResponse{Body: out, Headers: oas.CreateProject201ResponseHeaders{
		ETag: etag, Location: projectURL(exchangeOf(ctx).origin, p.ID),
	}}, nil
}

// hostIsFree rejects a new project whose production host is one of the server itself [D1].
func (h handlers) hostIsFree(ctx context.Context, id string) error {
	err := svc.CheckProjectHost(id, h.Ingress.ProdHost(id), append([]string{h.PublicURL, h.GatewayURL}, h.Hosts...))
	if err == nil {
		return nil
	}
	if _, unknown := h.Projects.Project(ctx, id); unknown == nil {
		return nil // it is older than the host name of the server
	}
	return svc.Invalid([]svc.FieldError{{Pointer: "/id", Code: svc.CodeOf(err), Detail: svc.AsError(err).Detail}})
}

// ChangeProject answers PATCH /projects/{project}.
func (h handlers) ChangeProject(ctx context.Context, r oas.ChangeProjectRequestObject) (oas.ChangeProjectResponseObject, error) {
	change := svc.ProjectChange{PreviewParent: r.Body.PreviewParent, PreviewEnv: r.Body.PreviewEnv, Guard: r.Body.Guard, ReadOnly: r.Body.ReadOnly}
	if err := change.Validate(); err != nil {
		return nil, err
	}
	p, err := h.Projects.ChangeProject(ctx, r.Project, change)
	if err == nil && change.ReadOnly != nil && h.ReadOnlyChanged != nil {
		err = h.ReadOnlyChanged(ctx, r.Project)
	}
	if err != nil {
		return nil, err
	}
	return oas.ChangeProject200JSONResponse{Body: h.projectOut(p), Headers: oas.ChangeProject200ResponseHeaders{ETag: projectTag(p)}}, nil
}

// GetProject answers GET /projects/{project}.
func (h handlers) GetProject(ctx context.Context, r oas.GetProjectRequestObject) (oas.GetProjectResponseObject, error) {
	if include := value(r.Params.Include); include != "" && !include.Valid() {
		return nil, svc.Errorf(svc.BadRequest, svc.CodeInvalidInclude, "include must be versions or summary")
	}
	p, err := h.Projects.Project(ctx, r.Project)
	if err != nil {
		return nil, err
	}
	out := []api.Project{h.projectOut(p)}
	if out[0].History, err = h.historyOut(ctx, p.ID); err != nil {
		return nil, err
	}
	switch value(r.Params.Include) {
	case api.GetProjectParamsIncludeVersions:
		page, err := h.versionPage(ctx, r.Project, "", r.Params.Limit, nil)
		if err != nil {
			return nil, err
		}
		out[0].Versions = &page
	case api.GetProjectParamsIncludeSummary:
		if err := h.summarize(ctx, out); err != nil {
			return nil, err
		}
	}
	return oas.GetProject200JSONResponse{Body: out[0], Headers: oas.GetProject200ResponseHeaders{ETag: projectTag(p)}}, nil
}

// historyOut is how long points of the past of a project are kept; nil for not at all.
func (h handlers) historyOut(ctx context.Context, project string) (*api.ProjectHistory, error) {
	if h.History == nil {
		return nil, nil
	}
	keep, err := h.History(ctx, project)
	if err != nil || keep.Off() {
		return nil, err
	}
	seconds := func(d time.Duration) int64 { return int64(d / time.Second) }
	return &api.ProjectHistory{Seconds: seconds(keep.Seconds), Minutes: seconds(keep.Minutes), Hours: seconds(keep.Hours), MaxBytes: keep.MaxSize}, nil
}
