package httpapi

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// Retention archives and destroys many versions.
type Retention interface {
	// Apply archives or destroys the versions that f selects, or says what it would do.
	Apply(ctx context.Context, verb svc.BulkVerb, f svc.VersionFilter, dryRun bool) ([]svc.BulkResult, error)
	// Due returns the versions that the settings do not keep, and Sweep destroys them.
	Due(ctx context.Context) ([]svc.Version, error)
	Sweep(ctx context.Context) ([]svc.BulkResult, error)
	Keeps() (failed, archived svc.Keep)
	// DeleteProject destroys all versions; production confirms the production version.
	DeleteProject(ctx context.Context, id, production string) (svc.Project, []svc.BulkResult, error)
}

// DeleteProject answers DELETE /projects/{project}.
func (h handlers) DeleteProject(ctx context.Context, r oas.DeleteProjectRequestObject) (oas.DeleteProjectResponseObject, error) {
	p, results, err := h.Retention.DeleteProject(ctx, r.Project, r.Params.Production)
	if err != nil {
		return nil, err
	}
	noteBulk(ctx, results)
	if h.Domains != nil {
		if err := h.Domains.Publish(ctx); err != nil {
			return nil, err
		}
	}
	return oas.DeleteProject200JSONResponse{Project: h.projectOut(p), Items: each(results, bulkOut)}, nil
}

// ArchiveVersions answers POST /projects/{project}/versions:archive.
func (h handlers) ArchiveVersions(ctx context.Context, r oas.ArchiveVersionsRequestObject) (oas.ArchiveVersionsResponseObject, error) {
	out, err := h.bulk(ctx, svc.BulkArchive, r.Project, *r.Body)
	return oas.ArchiveVersions200JSONResponse(out), err
}

// DestroyVersions answers POST /projects/{project}/versions:destroy.
func (h handlers) DestroyVersions(ctx context.Context, r oas.DestroyVersionsRequestObject) (oas.DestroyVersionsResponseObject, error) {
	out, err := h.bulk(ctx, svc.BulkDestroy, r.Project, *r.Body)
	return oas.DestroyVersions200JSONResponse(out), err
}

func (h handlers) bulk(ctx context.Context, verb svc.BulkVerb, project string, body api.BulkVersions) (api.BulkReport, error) {
	if _, err := h.Projects.Project(ctx, project); err != nil {
		return api.BulkReport{}, err
	}
	f, err := bulkFilter(project, body, time.Now())
	if err != nil {
		return api.BulkReport{}, err
	}
	results, err := h.Retention.Apply(ctx, verb, f, body.DryRun)
	if err != nil {
		return api.BulkReport{}, err
	}
	if !body.DryRun {
		noteBulk(ctx, results)
	}
	return api.BulkReport{DryRun: body.DryRun, Items: each(results, bulkOut)}, nil
}

// bulkFilter reads a filter, which must select something less than everything.
func bulkFilter(project string, body api.BulkVersions, now time.Time) (svc.VersionFilter, error) {
	f := svc.VersionFilter{Project: project, GitRef: body.Ref}
	for _, s := range body.Status {
		if s == api.VersionStatusDestroyed || !svc.Status(s).Valid() {
			return f, svc.Errorf(svc.BadRequest, svc.CodeInvalidStatus, "unknown status").At("/status")
		}
		f.Statuses = append(f.Statuses, svc.Status(s))
	}
	if body.OlderThan != "" {
		age, err := text.Duration(body.OlderThan)
		if err != nil || age <= 0 {
			return f, svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "older_than must be a duration such as 12h or 7d").At("/older_than")
		}
		f.Until = now.Add(-age)
	}
	for key, value := range body.Labels {
		f.Labels = append(f.Labels, svc.LabelFilter{Key: key, Value: value})
	}
	if len(f.Statuses) == 0 && f.GitRef == "" && f.Until.IsZero() && len(f.Labels) == 0 {
		return f, svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "a filter is required").WithHint("set status, ref, older_than or labels")
	}
	return f, nil
}

// noteBulk adds the versions that changed to the audit record.
func noteBulk(ctx context.Context, results []svc.BulkResult) {
	ids := []string{}
	for _, r := range results {
		if r.Done {
			ids = append(ids, r.Version.String())
		}
	}
	exchangeOf(ctx).changes.after = map[string]any{"versions": ids}
}

func bulkOut(r svc.BulkResult) api.BulkResult {
	out := api.BulkResult{ProjectID: r.Version.Project, VersionID: r.Version.Version, Status: api.VersionStatus(r.Version.Status), Done: r.Done}
	out.Waiting = workOut(r.Version.Waiting)
	if r.Err != nil {
		e := svc.AsError(r.Err)
		out.Code, out.Detail = e.Code, e.Detail
	}
	return out
}

// workOut is the work that an archive stops; nil without any.
func workOut(w svc.Waiting) *api.WaitingWork {
	if w == (svc.Waiting{}) {
		return nil
	}
	return &api.WaitingWork{Messages: w.Messages, Instances: w.Instances}
}

// GetRetention answers GET /admin/retention.
func (h handlers) GetRetention(ctx context.Context, _ oas.GetRetentionRequestObject) (oas.GetRetentionResponseObject, error) {
	due, err := h.Retention.Due(ctx)
	if err != nil {
		return nil, err
	}
	items := each(due, func(v svc.Version) api.BulkResult { return bulkOut(svc.BulkResult{Version: v}) })
	return oas.GetRetention200JSONResponse(h.retentionOut(true, items)), nil
}

// ApplyRetention answers POST /admin/retention.
func (h handlers) ApplyRetention(ctx context.Context, _ oas.ApplyRetentionRequestObject) (oas.ApplyRetentionResponseObject, error) {
	results, err := h.Retention.Sweep(ctx)
	if err != nil {
		return nil, err
	}
	noteBulk(ctx, results)
	return oas.ApplyRetention200JSONResponse(h.retentionOut(false, each(results, bulkOut))), nil
}

func (h handlers) retentionOut(dryRun bool, items []api.BulkResult) api.RetentionReport {
	failed, archived := h.Retention.Keeps()
	return api.RetentionReport{DryRun: dryRun, KeepFailed: keepOut(failed), KeepArchived: keepOut(archived), Items: items}
}

func keepOut(k svc.Keep) api.Keep {
	return api.Keep{AgeSeconds: k.Age.Seconds(), Count: k.Count}
}
