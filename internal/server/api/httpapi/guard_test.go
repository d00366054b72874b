package httpapi_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestGuard: a project whose guard is on refuses a promote that leaves writes behind, with the
// table of the plan; without the guard, and with consent, the promote runs.
func TestGuard(t *testing.T) {
	t.Parallel()
	h := withVerbs(t)
	h.left = svc.Unmerged{Common: "v-1", Tables: []svc.UnmergedTable{{Database: "main", Table: "orders", Written: svc.Written{Inserted: 4}}}}
	h.project("shop")
	for _, v := range []string{"v-1", "v-2", "v-3", "v-4"} {
		h.ready("shop", v)
	}
	promote := func(version string, body any) reply {
		return h.do(request{method: "POST", path: "/v1/projects/shop/versions/" + version + "/promote", body: body})
	}
	done := func(r reply) {
		t.Helper()
		op := decode[api.PromotionAccepted](r.want(202))
		svctest.Eventually(t, "the end of the promotion", func() bool {
			got := decode[api.Promotion](h.do(request{method: "GET", path: "/v1/projects/shop/promotions/" + op.OperationID}).want(200))
			return got.Status == api.PromotionStatusDone
		})
	}
	done(promote("v-1", nil))
	done(promote("v-2", nil)) // a project made by the API has no guard
	p := decode[api.Project](h.do(request{method: "PATCH", path: "/v1/projects/shop", body: `{"guard":true}`}).want(200))
	if !p.Guard {
		t.Errorf("got %+v", p)
	}
	refusal := promote("v-3", nil).wantProblem(409, "promote_leaves_writes")
	want := []api.UnmergedTable{{Database: "main", Table: "orders", Inserted: 4}}
	if refusal.Unmerged == nil || refusal.Unmerged.CommonVersionID != "v-1" || cmp.Diff(want, refusal.Unmerged.Tables) != "" {
		t.Errorf("the table is %+v", refusal.Unmerged)
	}
	if !strings.Contains(refusal.Detail, "4 rows of main.orders") || !strings.Contains(refusal.Hint, "leave_writes") {
		t.Errorf("%s: %s", refusal.Detail, refusal.Hint)
	}
	if got := decode[api.Project](h.do(request{method: "GET", path: "/v1/projects/shop"}).want(200)); got.ProdVersionID != "v-2" {
		t.Errorf("production is %s", got.ProdVersionID)
	}
	done(promote("v-3", api.PromoteVersion{LeaveWrites: true}))
	h.do(request{method: "PATCH", path: "/v1/projects/shop", body: `{"guard":false}`}).want(200)
	done(promote("v-4", nil))
}
