package httpapi_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestPromotionPlan: the plan of a promote, and the record of one that was counted.
func TestPromotionPlan(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	for _, v := range []string{"v-1", "v-2"} {
		h.ready("shop", v)
	}
	const path = "/v1/projects/shop/versions/v-2/promotion-plan"
	got := decode[api.PromotionPlan](h.do(request{method: "GET", path: path}).want(200))
	if diff := cmp.Diff(api.PromotionPlan{ProjectID: "shop", VersionID: "v-2", Status: "ready"}, got); diff != "" {
		t.Errorf("the first production (-want +got):\n%s", diff)
	}
	h.do(request{method: "POST", path: "/v1/projects/shop/versions/v-1/promote"}).want(202)
	got = decode[api.PromotionPlan](h.do(request{method: "GET", path: path}).want(200))
	want := api.Unmerged{
		CommonVersionID: "v-1", ForkedAt: got.Unmerged.ForkedAt, Keys: api.WrittenRecords{Inserted: 1, Updated: 2, Deleted: 3, AtLeast: true},
		Tables: []api.UnmergedTable{{Database: "main", Table: "orders", Inserted: 4}},
	}
	if diff := cmp.Diff(want, *got.Unmerged); diff != "" || !got.Unmerged.ForkedAt.Equal(time.UnixMilli(1000)) {
		t.Errorf("unmerged at %v (-want +got):\n%s", got.Unmerged.ForkedAt, diff)
	}
	if got.ProductionVersionID != "v-1" || *got.Waiting != (api.WaitingWork{Messages: 2, Instances: 1}) {
		t.Errorf("got %+v", got)
	}
	h.do(request{method: "GET", path: "/v1/projects/shop/versions/v-9/promotion-plan"}).wantProblem(404, "version_not_found")
	h.do(request{method: "GET", path: "/v1/projects/shop/versions/v-2/promotion-plan", token: deployToken}).wantProblem(403, "forbidden")

	op := svc.Promotion{ID: "op-counted", Project: "shop", Version: "v-2", Previous: "v-1"}
	outcome := svc.PromotionOutcome{Status: svc.PromotionDone, Left: svc.Left{Unmerged: &svc.Unmerged{Reason: svc.NoCutLost}, Waiting: &svc.Waiting{}}}
	if err := h.db.CreatePromotion(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	if err := h.db.FinishPromotion(t.Context(), op.ID, outcome); err != nil {
		t.Fatal(err)
	}
	record := decode[api.Promotion](h.do(request{method: "GET", path: "/v1/projects/shop/promotions/op-counted"}).want(200))
	if record.Unmerged == nil || record.Unmerged.Reason != "lost" || record.Waiting == nil || *record.Waiting != (api.WaitingWork{}) {
		t.Errorf("got %+v", record)
	}
}

// TestCompareData: what each of two versions wrote.
func TestCompareData(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	for _, v := range []string{"v-1", "v-2"} {
		h.ready("shop", v)
	}
	got := decode[api.DataComparison](h.do(request{method: "GET", path: "/v1/projects/shop/compare/data?from=v-2&to=v-1"}).want(200))
	want := api.DataComparison{
		From: api.ComparedData{VersionID: "v-2", Written: api.Unmerged{CommonVersionID: "v-1", Tables: []api.UnmergedTable{{Database: "main", Table: "orders", Updated: 2}}}},
		To:   api.ComparedData{VersionID: "v-1", Written: api.Unmerged{CommonVersionID: "v-1", Tables: []api.UnmergedTable{}, Keys: api.WrittenRecords{Deleted: 1}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("compared (-want +got):\n%s", diff)
	}
	h.do(request{method: "GET", path: "/v1/projects/shop/compare/data?from=v-2&to=v-9"}).wantProblem(404, "version_not_found")
	h.do(request{method: "GET", path: "/v1/projects/shop/compare/data?from=v-2&to=v-1", token: deployToken}).wantProblem(403, "forbidden")
}
