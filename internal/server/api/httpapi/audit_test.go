package httpapi_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/lib/clientlimit"
	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// records returns the audit records, oldest first, as "action version status".
func (h *harness) records(query string) (text []string, items []api.AuditRecord) {
	h.t.Helper()
	page := decode[api.AuditPage](h.do(request{method: "GET", path: "/v1/audit" + query}).want(200))
	for _, a := range page.Items {
		text = append([]string{a.Action + " " + a.VersionID + " " + http.StatusText(a.Status)}, text...)
		items = append([]api.AuditRecord{a}, items...)
	}
	return text, items
}

// TestAuditBehindAProxy: a record has the address of the client, also of one that uses the dashboard.
func TestAuditBehindAProxy(t *testing.T) {
	t.Parallel()
	b := startPages(t, func(d *httpapi.Deps) { d.Client = new(clientlimit.Proxies).Client })
	b.do(request{method: "POST", path: "/v1/projects", body: api.CreateProject{ID: "one"}, header: http.Header{"X-Forwarded-For": {"6.6.6.6, 203.0.113.9"}}}).want(201)
	b.signIn(adminToken)
	b.get("/projects")
	if got := b.post("/projects", url.Values{"id": {"two"}}, "X-Forwarded-For", "203.0.113.10"); got != http.StatusSeeOther {
		t.Fatalf("%d %s", got, b.page)
	}
	_, items := b.records("")
	if len(items) != 2 || items[0].Actor.Client != "203.0.113.9" || items[1].Actor.Client != "203.0.113.10" {
		t.Errorf("%+v", items)
	}
}

// TestAudit: each change has its record, with who made it and what changed.
func TestAudit(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v1")
	h.ready("shop", "v2")
	who := http.Header{"Svc-Actor": {"ana\tof ops"}, "Svc-Reason": {"it is quiet"}}
	const v1 = "/v1/projects/shop/versions/v1"
	h.do(request{method: "POST", path: v1 + "/pin", header: who}).want(200)
	h.do(request{method: "PUT", path: v1 + "/env", body: api.SetEnv{Vars: map[string]string{"A": "hunter2"}}}).want(200)
	h.do(request{method: "POST", path: v1 + "/promote", body: api.PromoteVersion{Reason: "a release"}}).want(202)
	h.do(request{method: "POST", path: "/v1/projects/shop/versions/none/archive"}).want(404) // an attempt
	h.do(request{method: "GET", path: v1}).want(200)                                         // no change
	h.do(request{method: "POST", path: v1 + "/archive", token: "none"}).want(401)            // without permission
	h.do(request{method: "POST", path: v1 + "/archive", token: deployToken}).want(403)
	text, items := h.records("")
	if diff := cmp.Diff([]string{
		"createProject  Created", "createVersion v1 Accepted", "createVersion v2 Accepted", "pinVersion v1 OK", "setEnv v1 OK", "promoteVersion v1 Accepted",
		"archiveVersion none Not Found",
	}, text); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	created, pin, env, promote := items[1], items[3], items[4], items[5]
	if created.Actor.Role != "deploy" || created.Actor.Token != "deploy" || len(created.Actor.Fingerprint) != 8 || created.Actor.Client != "127.0.0.1" ||
		created.After["status"] != "pending" || len(created.Before) > 0 || created.ProjectID != "shop" || created.RequestID == "" {
		t.Errorf("%+v", created)
	}
	if diff := cmp.Diff(map[string]any{"pinned": false}, pin.Before) + cmp.Diff(map[string]any{"pinned": true}, pin.After); diff != "" ||
		pin.Actor.Name != "ana of ops" || pin.Actor.Role != "admin" || pin.Reason != "it is quiet" {
		t.Errorf("%+v %s", pin, diff)
	}
	if len(env.After) != 1 || env.After["env"] == nil {
		t.Errorf("%+v", env)
	}
	if promote.Reason != "a release" || promote.After["production"] != "v1" || promote.After["operation_id"] != "op-v1" {
		t.Errorf("%+v", promote)
	}
	raw := string(h.do(request{method: "GET", path: "/v1/audit"}).want(200).body)
	if strings.Contains(raw, "hunter2") || strings.Contains(raw, adminToken) {
		t.Errorf("a secret is in %s", raw)
	}
}

// TestAuditFilters reads the records page by page.
func TestAuditFilters(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.version("shop", "v1")
	h.project("other")
	for query, want := range map[string]int{
		"": 3, "?project=shop": 2, "?project=shop&version=v1": 1, "?action=createProject": 2, "?since=1h": 3, "?since=7d": 3, "?since=2100-01-01T00:00:00Z": 0,
	} {
		if got, _ := h.records(query); len(got) != want {
			t.Errorf("%q: %v", query, got)
		}
	}
	for _, since := range []string{"soon", "1764000000", "off"} {
		h.do(request{method: "GET", path: "/v1/audit?since=" + since}).wantProblem(400, "invalid_parameter")
	}
	h.do(request{method: "GET", path: "/v1/audit", token: "none"}).wantProblem(401, "unauthorized")
	h.do(request{method: "GET", path: "/v1/audit", token: deployToken}).wantProblem(403, "forbidden")
	c, err := client.New(h.url, client.Tokens{Deploy: deployToken, Admin: adminToken}, client.Options{Actor: "sdk"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateProject(t.Context(), api.CreateProject{ID: "third"}); err != nil {
		t.Fatal(err)
	}
	n := 0
	for a, err := range c.AllAudit(t.Context(), client.AuditFilter{Since: "1h"}) {
		if n++; err != nil || n == 1 && a.Actor.Name != "sdk" {
			t.Errorf("%+v, %v", a, err)
		}
	}
	if n != 4 {
		t.Errorf("%d records", n)
	}
	if page, err := c.Audit(t.Context(), client.AuditFilter{}, client.Page{Limit: 1}); err != nil || len(page.Items) != 1 || page.NextCursor == nil {
		t.Errorf("%+v, %v", page, err)
	}
}

// drafts counts the drafts that are stored before a change.
type drafts struct {
	httpapi.Audit
	n atomic.Int64
}

func (d *drafts) DraftAudit(ctx context.Context) error {
	d.n.Add(1)
	return d.Audit.DraftAudit(ctx)
}

// TestAuditOfData: a query that only reads is no change. A change of data is recorded before
// it is made, too: a kill in between leaves its draft.
func TestAuditOfData(t *testing.T) {
	t.Parallel()
	var before drafts
	h := start(t, func(d *httpapi.Deps) { before.Audit, d.Audit = d.Audit, &before })
	h.project("shop")
	h.version("shop", "v1")
	const path = "/v1/projects/shop/versions/v1/database/query"
	no := false
	h.do(request{method: "POST", path: path, body: api.DatabaseQuery{SQL: "SELECT 1"}})
	h.do(request{method: "POST", path: path, body: api.DatabaseQuery{SQL: "DELETE FROM t", ReadOnly: &no}})
	text, _ := h.records("?version=v1")
	if n := before.n.Load(); n != 1 {
		t.Errorf("%d drafts before the changes, want 1", n)
	}
	if len(text) != 2 || !strings.HasPrefix(text[1], "queryDatabase v1 ") {
		t.Errorf("%q", text)
	}
}
