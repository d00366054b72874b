package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestReadOnlyData: changes of the data of a read-only project need force, reads do not.
func TestReadOnlyData(t *testing.T) {
	t.Parallel()
	h := withData(t, append(one(), files(), bundle.Binding{Name: "FLOW", Kind: "workflow", Resource: "flow", Config: []byte(`{"class_name":"Flow"}`)})...)
	on := true
	if _, err := h.db.ChangeProject(t.Context(), "shop", svc.ProjectChange{ReadOnly: &on}); err != nil {
		t.Fatal(err)
	}
	octets := http.Header{"Content-Type": {"application/octet-stream"}}
	h.refuse(v1, []refused{
		{"PUT", "/kv/KV/values/k", "x", octets, 409, "project_read_only"},
		{"PUT", "/kv/KV/values/k?force=false", "x", octets, 409, "project_read_only"},
		{"DELETE", "/kv/KV/values/k", nil, nil, 409, "project_read_only"},
		{"PUT", "/objects/FILES/k", "x", octets, 409, "project_read_only"},
		{"DELETE", "/objects/FILES/k", nil, nil, 409, "project_read_only"},
		{"POST", "/database/query", api.DatabaseQuery{SQL: "SELECT 1", ReadOnly: new(bool)}, nil, 409, "project_read_only"},
		{"POST", "/database/import", "SELECT 1;", octets, 409, "project_read_only"},
		{"POST", "/workflows/flow/instances", `{"id":"i"}`, nil, 409, "project_read_only"},
		{"POST", "/scheduled", `{}`, nil, 409, "project_read_only"},
	})
	h.query(api.DatabaseQuery{SQL: "SELECT 1"}).want(200)
	h.do(request{method: "PUT", path: v1 + "/kv/KV/values/k?force=true", body: "x", header: octets}).want(204)
	h.do(request{method: "POST", path: v1 + "/database/query?force=true", body: api.DatabaseQuery{SQL: "CREATE TABLE made (n)", ReadOnly: new(bool)}}).want(200)
	h.get("/kv/KV/values/k").want(200)
	on = false
	if _, err := h.db.ChangeProject(t.Context(), "shop", svc.ProjectChange{ReadOnly: &on}); err != nil {
		t.Fatal(err)
	}
	h.do(request{method: "DELETE", path: v1 + "/kv/KV/values/k"}).want(204)
}
