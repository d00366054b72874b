package httpapi_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestParentProduction: @production as a parent, by the rules of every parent.
func TestParentProduction(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	create := func(body string) reply {
		t.Helper()
		return h.do(request{method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: body})
	}
	p := create(`{"id":"child","parent_version_id":"@production"}`).wantProblem(422, "no_production")
	if len(p.Errors) != 1 || p.Errors[0].Pointer != "/parent_version_id" || p.Hint == "" {
		t.Errorf("%+v", p)
	}
	h.ready("shop", "v-1")
	h.ready("shop", "v-2")
	produce := func(expected, next string) {
		t.Helper()
		if err := h.db.SetProduction(t.Context(), "shop", expected, next); err != nil {
			t.Fatal(err)
		}
	}
	parent := func(id string) string {
		t.Helper()
		v := decode[api.Version](h.do(request{method: "GET", path: "/v1/projects/shop/versions/" + id}).want(200))
		return *v.ParentVersionID
	}
	produce("", "v-1")
	create(`{"parent_version_id":"@production","git_ref":"pull/8"}`).wantProblem(422, "fork_of_production")
	create(`{"parent_version_id":"@other"}`).wantProblem(422, "parent_not_found")
	const child = `{"id":"child","parent_version_id":"@production","git_ref":"main"}`
	create(child).want(202)
	produce("v-1", "v-2")
	create(child).want(202)
	if got := parent("child"); got != "v-1" {
		t.Errorf("the parent is %s", got)
	}
	changed := decode[api.Project](h.do(request{method: "PATCH", path: "/v1/projects/shop", body: `{"preview_parent":"@production"}`}).want(200))
	if changed.PreviewParent != svc.ParentProduction {
		t.Errorf("%+v", changed)
	}
	v := decode[api.VersionAccepted](create(`{"preview_name":"feature","git_ref":"main"}`).want(202))
	if got := parent(v.ID); got != "v-2" {
		t.Errorf("the preview's parent is %s", got)
	}
	create(`{"preview_name":"other","git_ref":"pull/8"}`).wantProblem(422, "fork_of_production")
}

// TestEventsOfAVersion: the record says which events reach the worker.
func TestEventsOfAVersion(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	create := func(body string, outside ...bool) reply {
		t.Helper()
		return h.do(request{method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: body, outside: len(outside) > 0})
	}
	create(`{"id":"off","events":"off"}`).want(202) // without a parent, too
	create(`{"id":"on","events":"on"}`).want(202)
	create(`{"id":"on"}`).want(202) // the default, so the same request
	create(`{"id":"off"}`).wantProblem(409, "version_exists")
	for _, bad := range []string{"handed_over", "maybe"} {
		if p := create(`{"events":"`+bad+`"}`, true).wantProblem(422, "invalid_events"); len(p.Errors) != 1 || p.Errors[0].Pointer != "/events" {
			t.Errorf("%+v", p)
		}
	}
	for id, want := range map[string]api.VersionEvents{"off": "off", "on": "on"} {
		if v := decode[api.Version](h.do(request{method: "GET", path: "/v1/projects/shop/versions/" + id}).want(200)); v.Events != want {
			t.Errorf("%s has events %q", id, v.Events)
		}
	}
}
