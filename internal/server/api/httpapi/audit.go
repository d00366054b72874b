package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// Audit keeps who changed what.
type Audit interface {
	AddAudit(ctx context.Context, a svc.AuditRecord) error
	// DraftAudit stores the draft of ctx before a change that is not one of the registry.
	DraftAudit(ctx context.Context) error
	ListAudit(ctx context.Context, f svc.AuditFilter, p svc.PageRequest) (svc.Page[svc.AuditRecord], error)
}

// auditTime is the time limit for writing a record after the response.
const auditTime = 10 * time.Second

// changes is what a handler adds to the audit record of its request.
type changes struct {
	ref           svc.Ref // of a record that the request created
	before, after map[string]any
	reason        string
	by            string // what the client says of itself, in the header Svc-Actor
}

// audited records each request of an operation that changes something, whatever its
// outcome: with the fields of the project and the version that it changed. A request
// without permission or with a malformed body does not reach it.
func (s *Server) audited(pattern string, next http.HandlerFunc) http.HandlerFunc {
	method, _, _ := strings.Cut(pattern, " ")
	if method == http.MethodGet || method == http.MethodHead {
		return next
	}
	action, elsewhere := cmp.Or(operationIDs()[pattern], pattern), s.changesElsewhere(pattern)
	return func(w http.ResponseWriter, r *http.Request) {
		if onlyReads(pattern, r) {
			next(w, r)
			return
		}
		ref := svc.Ref{Project: r.PathValue("project"), Version: r.PathValue("version")}
		a := s.draft(r, svc.AuditRecord{Action: action, Project: ref.Project, Version: ref.Version, Before: s.snapshot(r.Context(), ref)})
		ctx := svc.WithAuditDraft(r.Context(), svc.NewAuditDraft(a, s.fields))
		r = r.WithContext(ctx)
		if elsewhere {
			if err := s.Audit.DraftAudit(ctx); err != nil {
				s.fail(w, r, err)
				return
			}
		}
		next(w, r)
		s.record(w, r, a)
	}
}

// changesElsewhere reports whether an operation changes what is not in the registry, whose
// changes store the draft with them: data of versions, the object store.
func (s *Server) changesElsewhere(pattern string) bool {
	switch pattern {
	case "POST " + versionRoute + "/scheduled", "POST /v1/admin/gc", "PUT /v1/uploads/{ticket}", "PUT /v1/uploads/{ticket}/assets":
		return true
	}
	return s.isData(pattern)
}

// draft returns what is known of a record before the change. The registry stores it with
// the change, for the case that record does not run.
func (s *Server) draft(r *http.Request, a svc.AuditRecord) svc.AuditRecord {
	x := exchangeOf(r.Context())
	a.Time, a.RequestID, a.Reason = x.began, x.id, svc.AuditText(r.Header.Get("Svc-Reason"))
	if a.Actor = x.actor; a.Actor.Role == "" { // the ticket in the path is the credential [D11]
		a.Actor.Role, a.Actor.Token = "upload", "upload address"
	}
	a.Actor.Name = svc.AuditText(r.Header.Get("Svc-Actor"))
	x.changes.by = a.Actor.Name
	a.Actor.Client = s.client(r)
	return a
}

// client is the address of a request's client.
func (s *Server) client(r *http.Request) string {
	if s.Client != nil {
		if ip := s.Client(r); ip.IsValid() {
			return ip.String()
		}
	}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}

// record completes a record and stores it. A failure is logged: the change has been
// made, and the next start of the server stores the draft.
func (s *Server) record(w http.ResponseWriter, r *http.Request, a svc.AuditRecord) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), auditTime)
	defer cancel()
	x := exchangeOf(ctx)
	a.Project, a.Version = cmp.Or(a.Project, x.changes.ref.Project), cmp.Or(a.Version, x.changes.ref.Version)
	a.Before, a.After = svc.AuditDifference(a.Before, s.snapshot(ctx, svc.Ref{Project: a.Project, Version: a.Version}))
	maps.Copy(a.Before, x.changes.before)
	maps.Copy(a.After, x.changes.after)
	a.Status = http.StatusOK
	if rec, ok := w.(*recorder); ok && rec.status != 0 {
		a.Status = rec.status
	}
	a.Reason = cmp.Or(a.Reason, svc.AuditText(x.changes.reason))
	if err := s.Audit.AddAudit(ctx, a); err != nil {
		s.Logger.ErrorContext(ctx, "writing an audit record failed; the change is made and recorded at the next start", "request_id", x.id, "action", a.Action, "error", err)
	}
}

// onlyReads reports whether a request of an operation that may change something does
// not: a query in a transaction that only reads, or a dry run.
func onlyReads(pattern string, r *http.Request) bool {
	query := strings.HasSuffix(pattern, "/database/query")
	if !query && !strings.Contains(pattern, "/versions:") {
		return false
	}
	raw, err := io.ReadAll(r.Body) // in memory: the rule has read it
	r.Body = io.NopCloser(bytes.NewReader(raw))
	var body struct {
		api.DatabaseQuery
		DryRun bool `json:"dry_run"`
	}
	if err != nil || json.Unmarshal(raw, &body) != nil {
		return false
	}
	return body.DryRun || query && (body.ReadOnly == nil || *body.ReadOnly)
}

// snapshot returns the fields of a project and a version that clients change; empty
// for what does not exist.
func (s *Server) snapshot(ctx context.Context, ref svc.Ref) map[string]any {
	if ref.Project == "" {
		return s.fields(nil, nil)
	}
	var p *svc.Project
	var v *svc.Version
	if got, err := s.Projects.Project(ctx, ref.Project); err == nil {
		p = &got
	}
	if ref.Version != "" {
		if got, err := s.Versions.Version(ctx, ref); err == nil {
			v = &got
		}
	}
	return s.fields(p, v)
}

// fields returns the fields of a project and a version, which may be nil.
func (s *Server) fields(p *svc.Project, v *svc.Version) map[string]any {
	fields := map[string]any{}
	if p != nil {
		fields["project"], fields["git_remote"], fields["production"] = p.ID, p.GitRemote, p.ProdVersionID
		fields["preview_parent"], fields["preview_env"] = p.PreviewParent, s.hiddenValues(p.PreviewEnv)
	}
	if v != nil {
		fields["version"], fields["status"], fields["pinned"] = v.Version, string(v.Status), v.Pinned
		fields["parent"], fields["git_ref"], fields["git_sha"], fields["env"] = v.ParentID, v.GitRef, v.GitSHA, s.hiddenValues(v.Env)
	}
	return fields
}

// hiddenValues replaces each value by a keyed hash: a change is visible, and the value
// cannot be guessed.
func (s *Server) hiddenValues(env map[string]string) map[string]any {
	hidden := map[string]any{}
	for key, value := range env {
		hidden[key] = "hmac:" + s.auth.tickets.sign("audit." + key + "." + value)[:12]
	}
	return hidden
}

// operationIDs are the operation ids of the OpenAPI document by "METHOD /v1/path".
//
//nolint:gochecknoglobals // read once
var operationIDs = sync.OnceValue(func() map[string]string {
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	ids := map[string]string{}
	if json.Unmarshal(api.OpenAPI(), &doc) != nil { // a test reads the document
		return ids
	}
	for path, item := range doc.Paths {
		for method, raw := range item {
			var op struct {
				ID string `json:"operationId"`
			}
			if json.Unmarshal(raw, &op) == nil && op.ID != "" {
				ids[strings.ToUpper(method)+" /v1"+path] = op.ID
			}
		}
	}
	return ids
})

// ListAudit answers GET /audit.
func (h handlers) ListAudit(ctx context.Context, r oas.ListAuditRequestObject) (oas.ListAuditResponseObject, error) {
	p := r.Params
	f := svc.AuditFilter{Project: p.Project, Version: p.Version, Action: p.Action}
	var err error
	if f.Since, err = sinceOf(p.Since, time.Now()); err != nil {
		return nil, err
	}
	scope := scopeOf("audit", p.Project, p.Version, p.Action, p.Since)
	at, err := pageOf(scope, p.Limit, p.Cursor)
	if err != nil {
		return nil, err
	}
	page, err := h.Audit.ListAudit(ctx, f, at)
	if err != nil {
		return nil, err
	}
	return oas.ListAudit200JSONResponse{Items: each(page.Items, auditOut), NextCursor: newCursor(scope, page.Next)}, nil
}

// sinceOf reads a time or a duration until now; "" is the zero time.
func sinceOf(since string, now time.Time) (time.Time, error) {
	if since == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, since); err == nil {
		return at, nil
	}
	if d, err := text.Duration(since); err == nil {
		return now.Add(-d), nil
	}
	return time.Time{}, svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "the parameter since must be a time (RFC 3339) or a duration such as 24h or 7d")
}

func auditOut(a svc.AuditRecord) api.AuditRecord {
	return api.AuditRecord{
		ID: a.ID, Time: api.At(a.Time), Action: a.Action, ProjectID: a.Project, VersionID: a.Version, Status: a.Status,
		Before: a.Before, After: a.After, Reason: a.Reason, RequestID: a.RequestID,
		Actor: api.AuditActor{Role: a.Actor.Role, Token: a.Actor.Token, Fingerprint: a.Actor.Fingerprint, Name: a.Actor.Name, Client: a.Actor.Client},
	}
}
