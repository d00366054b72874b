package httpapi_test

import (
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// TestLabels: labels of a new version are in its record, and lists find it by them.
func TestLabels(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.project("blog")
	h.version("shop", "plain")
	const path = "/v1/projects/shop/versions"
	body := api.CreateVersion{ID: "pr-7", Labels: map[string]string{"pr": "7", "ci/run": "https://ci/1"}}
	h.do(request{method: "POST", path: path, token: deployToken, body: body}).want(202)
	h.do(request{method: "POST", path: "/v1/projects/blog/versions", token: deployToken, body: body}).want(202)
	h.do(request{method: "POST", path: path, token: deployToken, body: `{"labels":{"a b":"x"}}`, outside: true}).wantProblem(422, "invalid_label")
	h.do(request{method: "POST", path: path, token: deployToken, body: `{"labels":{"a":1}}`, outside: true}).wantProblem(400, "invalid_type")
	if v := decode[api.Version](h.do(request{method: "GET", path: path + "/pr-7"}).want(200)); v.Labels["ci/run"] != "https://ci/1" {
		t.Errorf("got %+v", v)
	}
	for query, n := range map[string]int{
		path + "?label=pr%3D7": 1, path + "?label=pr,ci/run": 1, path + "?label=pr%3D8": 0, path + "?label=pr&status=ready": 0,
		"/v1/versions?label=pr%3D7": 2, path: 2,
	} {
		if page := decode[api.VersionPage](h.do(request{method: "GET", path: query}).want(200)); len(page.Items) != n {
			t.Errorf("%s: %d versions, want %d", query, len(page.Items), n)
		}
	}
	h.do(request{method: "GET", path: path + "?label=%3D"}).wantProblem(400, "invalid_parameter")
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for v, err := range c.AllFound(t.Context(), client.VersionQuery{Labels: []string{"pr=7"}}) {
		if found++; err != nil || v.ID != "pr-7" {
			t.Errorf("got %+v, %v", v, err)
		}
	}
	if found != 2 {
		t.Errorf("found %d", found)
	}
}

// TestAuditEvents: the feed has an event for each audit record.
func TestAuditEvents(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v1")
	h.do(request{method: "POST", path: "/v1/projects/shop/versions/v1/pin", header: map[string][]string{"Svc-Actor": {"ada"}, "Svc-Reason": {"keep"}}}).want(200)
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var last api.Event
	for b, err := range c.FollowEvents(t.Context(), client.EventQuery{Cursor: "0", Types: []string{"audit"}}) { // a record follows its response
		if err != nil {
			t.Fatal(err)
		}
		if b.Event != nil && b.Event.Data.Action == "pinVersion" {
			last = *b.Event
			break
		}
	}
	if last.VersionID != "v1" || last.Data.Action != "pinVersion" || last.Data.Actor != "ada" || last.Data.Status != "200" || last.Data.Detail != "keep" {
		t.Errorf("got %+v", last)
	}
}
