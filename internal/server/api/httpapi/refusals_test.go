package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/pkg/api"
)

// refused is a request that must fail with a code.
type refused struct {
	method, path string
	body         any
	header       http.Header
	status       int
	code         string
}

// refuse makes the requests. They leave the document's rules on purpose.
func (h *harness) refuse(base string, list []refused) {
	h.t.Helper()
	for _, r := range list {
		got := h.do(request{method: r.method, path: base + r.path, body: r.body, header: r.header, outside: true})
		if r.status != got.StatusCode || !strings.Contains(string(got.body), `"code":"`+r.code+`"`) {
			h.t.Errorf("%s %s: %d %s, want %d %s", r.method, r.path, got.StatusCode, got.body, r.status, r.code)
		}
	}
}

// TestRefusalsOfData: the bindings of a version refuse what they cannot do, each with its code.
func TestRefusalsOfData(t *testing.T) {
	t.Parallel()
	h := withData(t,
		bundle.Binding{Name: "DB", Kind: "database", Resource: "main"}, bundle.Binding{Name: "OTHER", Kind: "database", Resource: "other"},
		bundle.Binding{Name: "KV", Kind: "kv", Resource: "cache"}, files())
	h.query(api.DatabaseQuery{Binding: "DB", SQL: "CREATE TABLE t (n); CREATE VIEW broken AS SELECT * FROM gone", ReadOnly: new(bool)}).want(200)
	long, octets := strings.Repeat("k", 2000), http.Header{"Content-Type": {"application/octet-stream"}}
	metadata := http.Header{"Content-Type": {"application/octet-stream"}, "Svc-Kv-Metadata": {"{"}}
	h.refuse(v1, []refused{
		{"GET", "/database/tables?binding=NO", nil, nil, 404, "binding_not_found"},
		{"GET", "/database/tables/t/rows?binding=NO", nil, nil, 404, "binding_not_found"},
		{"GET", "/database/tables/t/rows", nil, nil, 400, "binding_required"},
		{"GET", "/database/tables/t/rows?binding=DB&order_by=no", nil, nil, 400, "invalid_order_by"},
		{"GET", "/database/tables/broken/rows?binding=DB", nil, nil, 422, "sql_error"},
		{"GET", "/kv/NO/keys", nil, nil, 404, "binding_not_found"},
		{"GET", "/kv/KV/keys?prefix=" + long, nil, nil, 400, "invalid_key"},
		{"GET", "/kv/NO/values/k", nil, nil, 404, "binding_not_found"},
		{"GET", "/kv/KV/values/" + long, nil, nil, 400, "invalid_key"},
		{"PUT", "/kv/NO/values/k", "v", octets, 404, "binding_not_found"},
		{"PUT", "/kv/KV/values/k", "v", metadata, 400, "invalid_metadata"},
		{"PUT", "/kv/KV/values/k", strings.Repeat("v", 26<<20), octets, 413, "value_too_large"},
		{"DELETE", "/kv/NO/values/k", nil, nil, 404, "binding_not_found"},
		{"DELETE", "/kv/KV/values/" + long, nil, nil, 400, "invalid_key"},
		{"GET", "/objects/FILES?prefix=" + long, nil, nil, 400, "invalid_key"},
		{"DELETE", "/objects/NO/k", nil, nil, 404, "binding_not_found"},
		{"DELETE", "/objects/FILES/" + long, nil, nil, 400, "invalid_key"},
		{"POST", "/analytics/query", `{"sql":"SELECT 1"}`, nil, 404, "binding_not_found"},
		{"GET", "/emails", nil, nil, 404, "binding_not_found"},
		{"GET", "/emails/m", nil, nil, 404, "binding_not_found"},
		{"GET", "/queues/no/messages", nil, nil, 404, "queue_not_found"},
		{"POST", "/queues/no/messages", `{"body":1}`, nil, 404, "queue_not_found"},
		{"POST", "/queues/no/pause", nil, nil, 404, "queue_not_found"},
		{"POST", "/queues/no/resume", nil, nil, 404, "queue_not_found"},
		{"POST", "/queues/no/redrive", `{}`, nil, 404, "queue_not_found"},
		{"POST", "/queues/no/purge", nil, nil, 404, "queue_not_found"},
		{"GET", "/workflows/no/instances", nil, nil, 404, "workflow_not_found"},
		{"POST", "/workflows/no/instances", `{}`, nil, 404, "workflow_not_found"},
		{"GET", "/workflows/no/instances/i", nil, nil, 404, "workflow_not_found"},
		{"POST", "/workflows/no/instances/i/pause", nil, nil, 404, "workflow_not_found"},
		{"POST", "/workflows/no/instances/i/resume", nil, nil, 404, "workflow_not_found"},
		{"POST", "/workflows/no/instances/i/terminate", nil, nil, 404, "workflow_not_found"},
	})
}

// TestRefusalsOfWork: outboxes, rows of analytics and workflows refuse what they cannot do.
func TestRefusalsOfWork(t *testing.T) {
	t.Parallel()
	h := withData(t,
		bundle.Binding{Name: "MAIL", Kind: "send_email", Resource: "mail", Config: []byte(`{}`)}, bundle.Binding{Name: "POINTS", Kind: "analytics_engine", Resource: "points"},
		bundle.Binding{Name: "JOBS", Kind: "queue_producer", Resource: "jobs"},
		bundle.Binding{Name: "FLOW", Kind: "workflow", Resource: "flow", Config: []byte(`{"class_name":"Flow"}`)})
	h.refuse(v1, []refused{
		{"GET", "/emails?limit=0", nil, nil, 400, "invalid_limit"},
		{"GET", "/emails/m", nil, nil, 404, "email_not_found"},
		{"POST", "/analytics/query", `{"sql":"SELECT no FROM gone"}`, nil, 422, "sql_error"},
		{"POST", "/queues/jobs/messages", `{"body":"` + strings.Repeat("m", 200<<10) + `"}`, nil, 413, "value_too_large"},
		{"GET", "/workflows/flow/instances?status=no", nil, nil, 400, "invalid_parameter"},
		{"POST", "/workflows/flow/instances", `{"id":"-"}`, nil, 400, "invalid_parameter"},
		{"POST", "/workflows/flow/instances", `{"params":"` + strings.Repeat("p", 2<<20) + `"}`, nil, 413, "body_too_large"},
		{"GET", "/workflows/flow/instances/no", nil, nil, 404, "instance_not_found"},
		{"POST", "/workflows/flow/instances/no/pause", nil, nil, 404, "instance_not_found"},
		{"POST", "/workflows/flow/instances/no/resume", nil, nil, 404, "instance_not_found"},
		{"POST", "/workflows/flow/instances/no/terminate", nil, nil, 404, "instance_not_found"},
	})
}

// TestRefusalsOfRecords: the registry refuses what it does not have, or not in that state.
func TestRefusalsOfRecords(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v-1")
	h.ready("shop", "v-2")
	h.do(request{method: "DELETE", path: "/v1/projects/shop/versions/v-2"}).want(200)
	h.refuse("/v1", []refused{
		{"GET", "/audit?cursor=x", nil, nil, 400, "invalid_cursor"},
		{"POST", "/admin/gc/audit?project=no", nil, nil, 404, "project_not_found"},
		{"GET", "/projects/shop/versions/no/bundle", nil, nil, 404, "version_not_found"},
		{"GET", "/projects/no/previews/p", nil, nil, 404, "project_not_found"},
		{"PATCH", "/projects/no", `{"preview_parent":"x"}`, nil, 404, "project_not_found"},
		{"GET", "/projects/shop?include=versions&limit=0", nil, nil, 400, "invalid_limit"},
		{"DELETE", "/projects/shop/versions/no", nil, nil, 404, "version_not_found"},
		{"POST", "/projects/shop/versions/no/pin", nil, nil, 404, "version_not_found"},
		{"POST", "/projects/shop/versions/no/unpin", nil, nil, 404, "version_not_found"},
		{"POST", "/projects/shop/versions/no/wake", nil, nil, 404, "version_not_found"},
		{"POST", "/projects/no/versions/v-1/promote", nil, nil, 404, "project_not_found"},
		{"GET", "/projects/no/versions/v-1/promotion-plan", nil, nil, 404, "project_not_found"},
	})
	h.do(request{method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: `{"id":"v-3","parent_version_id":"v-2"}`}).wantProblem(422, "parent_destroyed")
}
