package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestRoles: the three token cases of the contract, for one operation of each role.
// spec: [C15.1] [C15.2] [C15.3] [C15.4] [C15.6] [D6]
func TestRoles(t *testing.T) {
	t.Parallel()
	split := httpapi.Tokens{Deploy: deployToken, Admin: adminToken}
	same := httpapi.Tokens{Deploy: "one", Admin: "one"}
	legacy := httpapi.Tokens{Legacy: "old"}
	halfDeploy := httpapi.Tokens{Deploy: deployToken, Legacy: "old"}
	halfAdmin := httpapi.Tokens{Admin: adminToken, Legacy: "old"}
	for _, tc := range []struct {
		name          string
		tokens        httpapi.Tokens
		token         string
		create, admin int
	}{
		{"split, deploy", split, deployToken, 202, 403},
		{"split, admin", split, adminToken, 403, 200},
		{"split, unknown", split, "unknown", 401, 401},
		{"split, none", split, "none", 401, 401},
		{"split, prefix of a token", split, adminToken[:5], 401, 401},
		{"same", same, "one", 202, 200},
		{"same, unknown", same, "two", 401, 401},
		{"legacy for both", legacy, "old", 202, 200},
		{"legacy for both, unknown", legacy, "new", 401, 401},
		{"deploy with legacy admin, deploy", halfDeploy, deployToken, 202, 403},
		{"deploy with legacy admin, legacy", halfDeploy, "old", 403, 200},
		{"admin with legacy deploy, admin", halfAdmin, adminToken, 403, 200},
		{"admin with legacy deploy, legacy", halfAdmin, "old", 202, 403},
		{"legacy is not used when both are set", httpapi.Tokens{Deploy: deployToken, Admin: adminToken, Legacy: "old"}, "old", 401, 401},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := start(t, func(d *httpapi.Deps) { d.Tokens = tc.tokens })
			if _, _, err := h.db.CreateProject(t.Context(), svc.Project{ID: "shop"}); err != nil {
				t.Fatal(err)
			}
			create := h.do(request{method: "POST", path: "/v1/projects/shop/versions", token: tc.token, body: api.CreateVersion{ID: "v-1"}})
			admin := h.do(request{method: "GET", path: "/v1/projects", token: tc.token})
			for what, got := range map[string][2]int{"create": {create.StatusCode, tc.create}, "admin": {admin.StatusCode, tc.admin}} {
				if got[0] != got[1] {
					t.Errorf("%s: got %d, want %d", what, got[0], got[1])
				}
			}
			if create.StatusCode == http.StatusUnauthorized && create.Header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("WWW-Authenticate is %q", create.Header.Get("WWW-Authenticate"))
			}
		})
	}
}

// TestDeployTokenMayNotPoll: with separate tokens, the deploy token cannot read a
// version.
// spec: [C15.5]
func TestDeployTokenMayNotPoll(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.version("shop", "v-1")
	h.do(request{method: "GET", path: "/v1/projects/shop/versions/v-1", token: deployToken}).wantProblem(403, "forbidden")
}

// TestEveryOperationChecksItsRole: every operation checks the role in the OpenAPI
// document before any other part of the request.
// spec: [C15.2] [C15.3] [C15.7] [C15.8]
func TestEveryOperationChecksItsRole(t *testing.T) {
	t.Parallel()
	h := start(t)
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("{project}", "p", "{version}", "v", "{operation}", "o", "{ticket}", "t", "{table}", "t", "{namespace}", "n", "{key}", "k", "/compare/data", "/compare/data?from=a&to=b", "/compare", "/compare?from=a&to=b")
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			security := doc.Security
			if op.Security != nil {
				security = *op.Security
			}
			rq := request{method: method, path: "/v1" + fill.Replace(path), body: "{not json", outside: true}
			if method == http.MethodGet {
				rq.body, rq.outside = nil, false
			}
			if method == http.MethodPut && strings.HasPrefix(path, "/uploads/{ticket}") {
				rq.header, rq.outside = http.Header{"Content-Type": {"application/octet-stream"}}, false
			}
			rq.token = "none"
			none := h.do(rq).StatusCode
			rq.token = "wrong"
			wrong := h.do(rq).StatusCode
			if len(security) == 0 {
				if none == 401 || none == 403 && !strings.HasPrefix(path, "/uploads/{ticket}") || wrong != none {
					t.Errorf("%s %s is public, and answers %d without and %d with a token", method, path, none, wrong)
				}
				continue
			}
			rq.token = deployToken
			want := 403
			if path == "/whoami" { // for every token
				want = 200
			}
			if _, deploy := security[0]["deployToken"]; deploy {
				rq.token = adminToken
			}
			if other := h.do(rq).StatusCode; none != 401 || wrong != 401 || other != want {
				t.Errorf("%s %s: none %d, unknown %d, other role %d", method, path, none, wrong, other)
			}
		}
	}
}

// spec: [C15.1]
func TestAuthorizationHeaderForms(t *testing.T) {
	t.Parallel()
	h := start(t)
	for _, tc := range []struct {
		name   string
		values []string
		want   int
	}{
		{"scheme in lower case", []string{"bearer " + adminToken}, 200},
		{"two spaces", []string{"Bearer  " + adminToken}, 200},
		{"basic", []string{"Basic " + adminToken}, 401},
		{"bare", []string{adminToken}, 401},
		{"empty", []string{"Bearer "}, 401},
		{"two headers", []string{"Bearer " + adminToken, "Bearer " + adminToken}, 401},
		{"other case of the token", []string{"Bearer " + strings.ToUpper(adminToken)}, 401},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			rq := request{method: "GET", path: "/v1/projects", token: "none", header: http.Header{"Authorization": tc.values}}
			h.do(rq).want(tc.want)
		})
	}
}

func TestNewRequiresTokens(t *testing.T) {
	t.Parallel()
	if _, err := httpapi.New(httpapi.Deps{}); err == nil || !strings.Contains(err.Error(), "Deps.Projects") {
		t.Errorf("got %v", err)
	}
}
