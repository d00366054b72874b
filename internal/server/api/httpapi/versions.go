package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// ListVersions answers GET /projects/{project}/versions.
func (h handlers) ListVersions(ctx context.Context, r oas.ListVersionsRequestObject) (oas.ListVersionsResponseObject, error) {
	var status svc.Status
	if r.Params.Status != nil {
		status = svc.Status(*r.Params.Status)
		if !status.Valid() {
			return nil, svc.Errorf(svc.BadRequest, svc.CodeInvalidStatus, "unknown status").
				WithHint("use one of %s", strings.Trim(fmt.Sprint(svc.Statuses()), "[]"))
		}
	}
	if _, err := h.Projects.Project(ctx, r.Project); err != nil {
		return nil, err
	}
	if r.Params.Label != "" {
		return h.labeledVersions(ctx, r, status)
	}
	page, err := h.versionPage(ctx, r.Project, status, r.Params.Limit, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	return oas.ListVersions200JSONResponse(page), nil
}

// labeledVersions is ListVersions with the parameter label.
func (h handlers) labeledVersions(ctx context.Context, r oas.ListVersionsRequestObject, status svc.Status) (oas.ListVersionsResponseObject, error) {
	params := api.SearchVersionsParams{Project: r.Project, Status: string(status), Label: r.Params.Label, Limit: r.Params.Limit, Cursor: r.Params.Cursor}
	found, err := h.SearchVersions(ctx, oas.SearchVersionsRequestObject{Params: params})
	if err != nil {
		return nil, err
	}
	page, ok := found.(oas.SearchVersions200JSONResponse)
	if !ok {
		return nil, fmt.Errorf("searching versions: unexpected response %T", found)
	}
	return oas.ListVersions200JSONResponse(page), nil
}

// eventsIn is the mode of a new version's events; a value that is not one stays, and is refused.
func eventsIn(e api.CreateVersionEvents) svc.Events {
	if e == api.CreateVersionEventsOn {
		return svc.EventsOn
	}
	return svc.Events(e)
}

// versionPage returns one page of a project's versions.
func (h handlers) versionPage(
	ctx context.Context, project string, status svc.Status, limit *int, cursor *string,
) (api.VersionPage, error) {
	scope := scopeOf("versions", project, string(status))
	at, err := pageOf(scope, limit, cursor)
	if err != nil {
		return api.VersionPage{}, err
	}
	page, err := h.Versions.ListVersions(ctx, project, status, at)
	if err != nil {
		return api.VersionPage{}, err
	}
	origin := exchangeOf(ctx).origin
	items := each(page.Items, func(v svc.Version) api.Version { return h.versionOut(origin, v) })
	return api.VersionPage{Items: items, NextCursor: newCursor(scope, page.Next)}, nil
}

// GetVersion answers GET /projects/{project}/versions/{version}.
func (h handlers) GetVersion(ctx context.Context, r oas.GetVersionRequestObject) (oas.GetVersionResponseObject, error) {
	v, err := h.Versions.Version(ctx, svc.Ref{Project: r.Project, Version: r.Version})
	if err != nil {
		return nil, err
	}
	x := exchangeOf(ctx)
	out := h.versionOut(x.origin, v)
	if r.Params.Reveal != nil && *r.Params.Reveal {
		if x.role != roleAdmin {
			return nil, svc.Errorf(svc.Forbidden, svc.CodeForbidden, "only the admin token reveals values").WithHint("use the admin token")
		}
		maps.Copy(out.Env, v.Env)
	}
	return oas.GetVersion200JSONResponse{Body: out, Headers: oas.GetVersion200ResponseHeaders{ETag: versionTag(v)}}, nil
}

// CreateVersion answers POST /projects/{project}/versions [D9][D11]. The
// client's artifact_uri is ignored. spec: [C4.14].
func (h handlers) CreateVersion(ctx context.Context, r oas.CreateVersionRequestObject) (oas.CreateVersionResponseObject, error) {
	opts, err := submitOptions(r)
	if err != nil {
		return nil, err
	}
	n := svc.NewVersion{
		Project: r.Project, ID: r.Body.ID, GitRef: r.Body.GitRef, GitSHA: r.Body.GitSHA, Digest: r.Body.ArtifactDigest, Env: r.Body.Env,
		Labels: r.Body.Labels, Asleep: r.Body.Asleep, BundleFrom: r.Body.BundleFrom, Events: eventsIn(r.Body.Events),
	}
	n.Preview = svc.PreviewRequest{Name: r.Body.PreviewName, Fresh: r.Body.PreviewFresh, Keep: r.Body.PreviewKeep}
	if r.Params.SvcWorkerName != "" {
		n.WorkerName, n.WorkerRenamed = r.Params.SvcWorkerName, r.Params.SvcWorkerRenamed
	}
	if r.Body.ParentVersionID != nil {
		n.ParentID = *r.Body.ParentVersionID
	}
	n.ParentAt = r.Body.ParentAt.Time
	v, err := h.Deployer.Submit(ctx, n, opts)
	if err != nil {
		return nil, err
	}
	exchangeOf(ctx).changes.ref = v.Ref
	origin := exchangeOf(ctx).origin
	out := api.VersionAccepted{
		ID: v.Version, ProjectID: v.Project, Status: api.VersionStatus(v.Status),
		PreviewURL: h.Ingress.PreviewURL(v.Ref), PollURL: versionURL(origin, v.Ref),
		PreviewName: v.PreviewName, PreviewNameURL: h.nameURL(v), PreviewGitRef: h.otherRef(ctx, v),
		PollTicket: h.auth.tickets.issue(v.Ref, time.Now()),
	}
	if r.Body.Upload {
		if out.Upload, err = h.ticket(ctx, origin, v.Ref); err != nil {
			return nil, err
		}
	}
	return oas.CreateVersion202JSONResponse{Body: out, Headers: oas.CreateVersion202ResponseHeaders{Location: out.PollURL}}, nil
}

// otherRef is the git ref that the preview of a new version was made from before, if it is another one; ""
// for none.
func (h handlers) otherRef(ctx context.Context, v svc.Version) string {
	if v.PreviewName == "" || v.GitRef == "" {
		return ""
	}
	p, err := h.Previews.Preview(ctx, v.Project, v.PreviewName)
	if err != nil || p.Current.GitRef == v.GitRef {
		return "" // without it the client knows less, and the version is the same
	}
	return p.Current.GitRef
}

// ticket returns an upload address for a version.
func (h handlers) ticket(ctx context.Context, origin string, ref svc.Ref) (*api.Upload, error) {
	u, err := h.Uploads.Issue(ctx, ref)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(u.URL, "/") {
		u.URL = origin + u.URL
	}
	if strings.HasPrefix(u.AssetsURL, "/") {
		u.AssetsURL = origin + u.AssetsURL
	}
	if u.Headers == nil {
		u.Headers = map[string]string{}
	}
	return &api.Upload{Method: u.Method, URL: u.URL, Headers: u.Headers, ExpiresAt: api.At(u.ExpiresAt), AssetsURL: u.AssetsURL}, nil
}

// submitOptions reads the Idempotency-Key. Two requests are equal if project and
// decoded body are; spaces and the order of fields do not matter.
func submitOptions(r oas.CreateVersionRequestObject) (svc.SubmitOptions, error) {
	if r.Params.IdempotencyKey == nil {
		return svc.SubmitOptions{}, nil
	}
	key := *r.Params.IdempotencyKey
	if key == "" || len(key) > 255 || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' }) {
		return svc.SubmitOptions{}, svc.Errorf(svc.BadRequest, svc.CodeInvalidIdempotencyKey, "the Idempotency-Key must have 1 to 255 printable ASCII characters")
	}
	body, err := json.Marshal(r.Body)
	if err != nil {
		return svc.SubmitOptions{}, fmt.Errorf("encoding a body: %w", err)
	}
	sum := sha256.Sum256(append([]byte(r.Project+"\x00"), body...))
	return svc.SubmitOptions{IdempotencyKey: key, BodyHash: hex.EncodeToString(sum[:])}, nil
}
