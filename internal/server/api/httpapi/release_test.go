package httpapi_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestReleaseVersion: what the API takes of a release and answers, its plan, and its record.
func TestReleaseVersion(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v-1")
	h.ready("shop", "check")
	h.do(request{method: "POST", path: "/v1/projects/shop/versions/v-1/promote"}).want(202)
	const of = "/v1/projects/shop/versions/check"
	plan := decode[api.ReleasePlan](h.do(request{method: "GET", path: of + "/release-plan"}).want(200))
	if plan.VersionID != "check" || plan.ProductionVersionID != "v-1" || plan.ExpectedHoldMs != 300 || plan.MaxHoldMs != 4000 ||
		cmp.Diff([]string{"main/0002_total.sql"}, plan.Migrations) != "" || plan.Own.Keys.Inserted != 1 || plan.Waiting.Messages != 2 {
		t.Errorf("%+v", plan)
	}
	h.do(request{method: "GET", path: "/v1/projects/shop/versions/no/release-plan"}).wantProblem(404, "version_not_found")
	h.do(request{method: "GET", path: "/v1/projects/no/versions/check/release-plan"}).wantProblem(404, "project_not_found")

	for _, body := range []string{`{"max_hold_ms":1800001}`, `{"late_requests":"drop"}`, `{"check":"health"}`} {
		h.do(request{method: "POST", path: of + "/release", body: body, outside: true}).wantProblem(422, "invalid_release")
	}
	h.do(request{method: "POST", path: of + "/release", token: deployToken}).wantProblem(403, "forbidden")
	h.do(request{method: "POST", path: "/v1/projects/shop/versions/no/release"}).wantProblem(404, "version_not_found")
	h.do(request{method: "POST", path: "/v1/projects/no/versions/check/release"}).wantProblem(404, "project_not_found")
	done := h.do(request{method: "POST", path: of + "/release", body: `{"version_id":"v-2","reason":"monday"}`}).want(202)
	want := api.ReleaseAccepted{
		ProjectID: "shop", VersionID: "v-2", CandidateVersionID: "check", PreviousVersionID: "v-1", OperationID: "op-of-check",
		Status: "running", ProdURL: "http://shop.ingress.local:8787", PollURL: h.url + "/v1/projects/shop/promotions/op-of-check",
	}
	if diff := cmp.Diff(want, decode[api.ReleaseAccepted](done)); diff != "" || done.Header.Get("Location") != want.PollURL {
		t.Errorf("at %s (-want +got):\n%s", done.Header.Get("Location"), diff)
	}
	record := decode[api.Promotion](h.do(request{method: "GET", path: "/v1/projects/shop/promotions/op-of-check"}).want(200))
	if record.Kind != "release" || record.CandidateVersionID != "check" || record.Reason != "monday" || record.Moved == nil {
		t.Errorf("%+v", record)
	}
	v := decode[api.Version](h.do(request{method: "GET", path: "/v1/projects/shop/versions/v-2"}).want(200))
	if v.ReleasedFrom != "check" {
		t.Errorf("%+v", v)
	}
	h.do(request{method: "POST", path: of + "/release", body: `{"version_id":"v-2"}`}).wantProblem(409, "version_exists")
}

// TestRefusalsOfReleases: what the service of promotions refuses before it begins a release.
func TestRefusalsOfReleases(t *testing.T) {
	t.Parallel()
	h := withVerbs(t)
	h.project("shop")
	add := func(id string, n svc.NewVersion, more ...svc.Trigger) {
		n.Project, n.ID = "shop", id
		if _, _, err := h.db.CreateVersion(t.Context(), n, svc.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		registrytest.Move(t, h.db, svc.Ref{Project: "shop", Version: id}, append(registrytest.ToReady(), more...)...)
	}
	add("v-1", svc.NewVersion{})
	add("v-2", svc.NewVersion{})
	add("asleep", svc.NewVersion{}, svc.TriggerArchive)
	add("gone", svc.NewVersion{}, svc.TriggerDestroy)
	add("pr-7", svc.NewVersion{GitRef: "pull/7"})
	add("slow", svc.NewVersion{})
	if err := h.db.SetMigrated(t.Context(), svc.Ref{Project: "shop", Version: "slow"}, svc.Migrated{Names: []string{"DB/0002.sql"}, Took: time.Minute}); err != nil {
		t.Fatal(err)
	}
	h.refuse("/v1/projects/shop", []refused{{"POST", "/versions/v-2/release", nil, nil, 409, "no_production"}})
	if err := h.db.SetProduction(t.Context(), "shop", "", "v-2"); err != nil {
		t.Fatal(err)
	}
	h.refuse("/v1/projects/shop", []refused{
		{"POST", "/versions/v-1/release", `{"expected_prod_version_id":"v-9"}`, nil, 412, "production_moved"},
		{"POST", "/versions/asleep/release", nil, nil, 409, "version_not_ready"},
		{"POST", "/versions/gone/release", nil, nil, 410, "version_destroyed"},
		{"POST", "/versions/pr-7/release", nil, nil, 422, "fork_of_production"},
		{"POST", "/versions/slow/release", nil, nil, 422, "release_too_slow"},
		{"POST", "/versions/v-1/release", `{"rollback":true}`, nil, 409, "schema_moved"},
	})
	run := svc.Promotion{ID: "op-1", Project: "shop", Version: "v-2", Status: svc.PromotionRunning, CreatedAt: time.Now()}
	if err := h.db.CreatePromotion(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	h.refuse("/v1/projects/shop", []refused{{"POST", "/versions/v-1/release", nil, nil, 409, "promote_in_progress"}})
	h.stop()
	h.refuse("/v1/projects/shop", []refused{{"POST", "/versions/v-1/release", nil, nil, 503, "shutting_down"}})
}
