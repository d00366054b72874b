package httpapi_test

import "testing"

// TestWorkflowListsOnlyRead: no other method than GET of the workflow endpoints of the
// contract does anything, but the one that was added to start an instance.
// spec: [C14.19]
func TestWorkflowListsOnlyRead(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v1")
	const path = "/v1/projects/shop/versions/v1/workflows"
	for _, rq := range []request{
		{method: "POST", path: path},
		{method: "PUT", path: path},
		{method: "DELETE", path: path},
		{method: "PATCH", path: path},
		{method: "PUT", path: path + "/flow/instances"},
		{method: "DELETE", path: path + "/flow/instances"},
		{method: "PATCH", path: path + "/flow/instances"},
	} {
		rq.outside = true
		h.do(rq).wantProblem(405, "method_not_allowed")
	}
}
