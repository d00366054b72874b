package httpapi_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// TestBranches: the tree with sizes where they are known.
func TestBranches(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v1")
	parent := "v1"
	for _, id := range []string{"v2", "v3", "v4"} {
		body := api.CreateVersion{ID: id, ParentVersionID: &parent}
		h.do(request{method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: body}).want(202)
	}
	if _, err := h.db.Move(t.Context(), svc.Ref{Project: "shop", Version: "v3"}, svc.TriggerDestroy, svc.Change{}); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := c.Branches(t.Context(), "shop")
	if err != nil || len(tree.Items) != 3 || tree.MeasuredAt == nil {
		t.Fatalf("got %+v, %v", tree, err)
	}
	root, child, last := tree.Items[0], tree.Items[1], tree.Items[2]
	if root.VersionID != "v1" || root.Children != 2 || root.ParentVersionID != nil || root.Sizes.Own.Bytes != 20 || root.Sizes.Exclusive.Bytes != 10 {
		t.Errorf("got %+v", root)
	}
	if child.VersionID != "v2" || child.Depth != 1 || *child.ParentVersionID != "v1" || child.Sizes.Shared.Objects != 1 || last.Sizes != nil {
		t.Errorf("got %+v, %+v", child, last)
	}
	if _, err := c.Branches(t.Context(), "none"); client.CodeOf(err) != "project_not_found" {
		t.Errorf("got %v", err)
	}
	h.fakes.fail(svc.Errorf(svc.Unavailable, "gc_failed", "the store does not answer"))
	h.do(request{method: "GET", path: "/v1/projects/shop/branches"}).wantProblem(503, "gc_failed")
}
