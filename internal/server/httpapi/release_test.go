package httpapi_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
