package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func TestGarbage(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.project("empty")
	one, two := api.ObjectAmount{Objects: 1, Bytes: 10}, api.ObjectAmount{Objects: 2, Bytes: 20}
	for method, dry := range map[string]bool{"GET": true, "POST": false} {
		got := h.do(request{method: method, path: "/v1/admin/gc?project=shop"}).want(200)
		r := decode[api.GarbageReport](got)
		want := api.GarbageReport{
			DryRun: dry, StartedAt: api.At(time.UnixMilli(1e12).UTC()), Seconds: 1.5, GraceSeconds: 3600,
			Total: api.GarbageUse{Live: two, Pinned: one, Waiting: one, Gone: two, Other: one},
			Projects: []api.GarbageProject{
				{
					ProjectID: "shop", Marked: []string{"v2"}, Removed: []string{"v0"},
					Versions: []api.GarbageVersion{
						{VersionID: "v1", Status: "ready", State: "live", Live: two, Pinned: one, PinnedBy: []api.GarbagePin{{VersionID: "v2", Objects: 1, Bytes: 10}}},
						{VersionID: "v2", State: "destroying", PinnedBy: []api.GarbagePin{}, Waiting: one, WaitingSeconds: 90, Gone: two, Other: one},
					},
					Broken: []api.StorageProblem{{Code: "not_restorable", ProjectID: "shop", VersionID: "v1", Store: "main", Key: "k", Objects: 3, Detail: "a hole"}},
				},
				{ProjectID: "sick", Error: "it was not collected", Versions: []api.GarbageVersion{}, Marked: []string{}, Removed: []string{}, Broken: []api.StorageProblem{}},
			},
		}
		if d := cmp.Diff(want, r); d != "" {
			t.Error(method, d)
		}
		if strings.Contains(string(got.body), "secret") {
			t.Error("the response has the cause")
		}
		r = decode[api.GarbageReport](h.do(request{method: method, path: "/v1/admin/gc?project=empty"}).want(200))
		if !r.Incomplete || r.LastSweepAt == nil || r.LastAuditAt != nil || r.Projects == nil {
			t.Errorf("%+v", r)
		}
		h.do(request{method: method, path: "/v1/admin/gc?project=none"}).wantProblem(404, "project_not_found")
		h.do(request{method: method, path: "/v1/admin/gc?project=a&project=b", outside: true}).wantProblem(400, "invalid_parameter")
	}
	a := decode[api.StorageAudit](h.do(request{method: "POST", path: "/v1/admin/gc/audit"}).want(200))
	if a.Files != 4 || len(a.Problems) != 1 || a.Problems[0].Code != "file_missing" {
		t.Errorf("%+v", a)
	}
	h.do(request{method: "GET", path: "/v1/admin/gc/audit", outside: true}).wantProblem(405, "method_not_allowed")
	h.fakes.fail(svc.Errorf(svc.Unavailable, "store_unavailable", "the object store cannot be listed"))
	for path, method := range map[string]string{"": "GET", "?project=shop": "POST", "/audit": "POST"} {
		h.do(request{method: method, path: "/v1/admin/gc" + path}).wantProblem(503, "store_unavailable")
	}
}

// TestGarbageTokens: the operations require the admin token.
// spec: [C15.3]
func TestGarbageTokens(t *testing.T) {
	t.Parallel()
	h := start(t)
	for _, tc := range [][2]string{{"GET", ""}, {"POST", ""}, {"POST", "/audit"}} {
		h.do(request{method: tc[0], path: "/v1/admin/gc" + tc[1], token: "none"}).wantProblem(401, "unauthorized")
		h.do(request{method: tc[0], path: "/v1/admin/gc" + tc[1], token: deployToken}).wantProblem(403, "forbidden")
	}
}

func TestGarbageSDK(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	c, err := client.New(h.url, client.Tokens{Deploy: deployToken, Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := c.Garbage(t.Context(), "shop"); err != nil || !r.DryRun || len(r.Projects) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := c.CollectGarbage(t.Context(), ""); err != nil || r.DryRun || r.Total.Gone.Objects != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if a, err := c.AuditStorage(t.Context(), ""); err != nil || a.Stores != 3 {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := c.Garbage(t.Context(), "none"); client.CodeOf(err) != "project_not_found" {
		t.Error(err)
	}
}
