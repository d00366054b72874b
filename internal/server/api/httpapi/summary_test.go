package httpapi_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// TestProjectSummary: counts, newest version, runtimes and traffic of projects.
func TestProjectSummary(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.project("empty")
	h.ready("shop", "v-1")
	h.version("shop", "v-2")
	v1 := svc.Ref{Project: "shop", Version: "v-1"}
	now := svc.Runtime{Ref: v1, State: svc.RuntimeServing, RSSBytes: 5}
	h.fakes.routes = []svc.Route{{Ref: v1, Role: svc.RolePreview, Runtime: now}, {Ref: v1, Role: svc.RoleProduction, Runtime: now}, {Ref: svc.Ref{Project: "shop", Version: "v-0"}}}
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	page, err := c.ProjectSummaries(t.Context(), client.Page{})
	if err != nil || len(page.Items) != 2 {
		t.Fatalf("got %+v, %v", page, err)
	}
	empty, shop := page.Items[0].Summary, page.Items[1].Summary
	if empty.LastDeploy != nil || empty.ProductionSince != nil || len(empty.Versions) != 0 || empty.Traffic.Requests != 0 {
		t.Errorf("got %+v", empty)
	}
	if shop.Versions["ready"] != 1 || shop.Versions["pending"] != 1 || shop.LastDeploy.VersionID != "v-2" || shop.LastDeploy.Status != api.VersionStatusPending ||
		shop.Running != 1 || shop.MemoryBytes != 5 || shop.Traffic.Requests != 3 {
		t.Errorf("got %+v", shop)
	}
	one, err := c.ProjectSummary(t.Context(), "shop")
	if err != nil || one.Summary.Running != 1 || one.Versions != nil {
		t.Errorf("got %+v, %v", one, err)
	}
	h.do(request{method: "GET", path: "/v1/projects?include=versions", outside: true}).wantProblem(400, "invalid_include")
	h.do(request{method: "GET", path: "/v1/projects/shop?include=all", outside: true}).wantProblem(400, "invalid_include")
	plain := decode[api.ProjectPage](h.do(request{method: "GET", path: "/v1/projects"}).want(200))
	if plain.Items[0].Summary != nil {
		t.Errorf("got %+v", plain)
	}
}
