//go:build e2e

package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
)

// badCall is a request that the API must refuse.
type badCall struct {
	method, path, body string
	status             int
	code               string
	words              []string
}

// TestBadCalls sends bodies, fields, cursors, paths and methods that the API must
// refuse.
// spec: [C4.6] [C5.2] [C5.9] [C5.11] [C5.13] [C5.15] [C11.1] [C11.2] [C13.7]
func TestBadCalls(t *testing.T) {
	t.Parallel()
	d := started(t)
	d.project("shop")
	d.project("other")
	for name, c := range badCalls() {
		t.Run(name, func(t *testing.T) {
			d := d.on(t)
			ask := d.admin
			if c.method == http.MethodPost && strings.HasSuffix(c.path, "/versions") {
				ask = d.deployer
			}
			d.refused(ask(c.method, c.path, c.body), c.status, c.code, c.words...)
		})
	}
	if page, err := d.client().Versions(t.Context(), "shop", "", noPage); err != nil || len(page.Items) != 0 {
		t.Errorf("a refused create left %d versions behind: %v", len(page.Items), err)
	}
	d.livesOn()
}

func badCalls() map[string]badCall {
	const create, projects = "/v1/projects/shop/versions", "/v1/projects"
	post := func(path, body string, status int, code string, words ...string) badCall {
		return badCall{http.MethodPost, path, body, status, code, words}
	}
	get := func(path string, status int, code string, words ...string) badCall {
		return badCall{http.MethodGet, path, "", status, code, words}
	}
	return map[string]badCall{
		"oversize body":        post(create, `{"git_ref":"`+strings.Repeat("x", 1<<20)+`"}`, 413, "body_too_large", "1048576"),
		"oversize project":     post(projects, `{"id":"`+strings.Repeat("x", 1<<20)+`"}`, 413, "body_too_large"),
		"no body":              post(create, "", 400, "body_required"),
		"no json":              post(create, "id=v1", 400, "invalid_json", "byte 1"),
		"half json":            post(create, `{"id":"v1"`, 400, "invalid_json"),
		"two documents":        post(create, `{"id":"v1"}{"id":"v2"}`, 400, "invalid_json"),
		"an array":             post(create, `[{"id":"v1"}]`, 400, "invalid_json", "must be a JSON object"),
		"null":                 post(create, `null`, 400, "invalid_json"),
		"not utf-8":            post(create, "{\"id\":\"v\xff\"}", 400, "invalid_json", "UTF-8"),
		"deep":                 post(create, `{"env":`+strings.Repeat("[", 20000)+strings.Repeat("]", 20000)+`}`, 400, "invalid_json"),
		"wrong type":           post(create, `{"id":1}`, 400, "invalid_type", `"/id"`, "want a string"),
		"env null":             post(create, `{"env":{"A":null}}`, 400, "invalid_type", `"/env/A"`),
		"env number":           post(create, `{"env":{"A":1}}`, 400, "invalid_type", `"/env/A"`, "want a string"),
		"unknown field":        post(create, `{"id":"v1","digest":"x","wait":true}`, 400, "unknown_field", `"/digest"`, `"/wait"`, "artifact_digest"),
		"unknown case":         post(create, `{"ID":"v1"}`, 400, "unknown_field", `"/ID"`),
		"project field":        post(projects, `{"id":"x1","prod_version_id":"v1"}`, 400, "unknown_field", `"/prod_version_id"`),
		"bad id":               post(create, `{"id":"V1"}`, 422, "invalid_id", `"/id"`, "a-z, 0-9"),
		"double dash":          post(create, `{"id":"a--b"}`, 422, "invalid_id", "--"),
		"long id":              post(create, `{"id":"`+strings.Repeat("x", 64)+`"}`, 422, "invalid_id", "1 to 63"),
		"path id":              post(create, `{"id":"../other/v1"}`, 422, "invalid_id"),
		"reserved project":     post(projects, `{"id":"localhost"}`, 422, "id_reserved", "localhost", "choose another"),
		"no project id":        post(projects, `{}`, 422, "invalid_id", `"/id"`),
		"project again":        post(projects, `{"id":"shop","git_remote":"git@example.com:x"}`, 409, "project_exists", "shop"),
		"unknown project":      post("/v1/projects/nope/versions", `{}`, 404, "project_not_found", "nope"),
		"bad digest":           post(create, `{"artifact_digest":"sha256:abc"}`, 422, "invalid_digest", "64 lowercase hex digits"),
		"digest upper":         post(create, `{"artifact_digest":"sha256:`+strings.Repeat("A", 64)+`"}`, 422, "invalid_digest"),
		"control in ref":       post(create, `{"git_ref":"a\u0000b"}`, 422, "invalid_label", `"/git_ref"`),
		"long ref":             post(create, `{"git_sha":"`+strings.Repeat("a", 256)+`"}`, 422, "invalid_label", `"/git_sha"`),
		"parent":               post(create, `{"parent_version_id":"v0"}`, 422, "parent_not_found", `"/parent_version_id"`, "a version of the same project"),
		"parent path":          post(create, `{"parent_version_id":"../other/v1"}`, 422, "parent_not_found", `"/parent_version_id"`),
		"parent itself":        post(create, `{"id":"v0","parent_version_id":"v0"}`, 422, "parent_not_found"),
		"env reserved":         post(create, `{"env":{"SVC_TOKEN":"hunter2"}}`, 422, "env_reserved_key", `"/env/SVC_TOKEN"`, "SVC_ or RUNTIME_"),
		"env reserved case":    post(create, `{"env":{"runtime_x":"hunter2"}}`, 422, "env_reserved_key", `"/env/runtime_x"`),
		"env platform":         post(create, `{"env":{"PROJECT_ID":"hunter2"}}`, 422, "env_platform_key", `"/env/PROJECT_ID"`),
		"env platform version": post(create, `{"env":{"VERSION_ID":"hunter2"}}`, 422, "env_platform_key"),
		"env key":              post(create, `{"env":{"1x":"hunter2"}}`, 422, "env_invalid_key", `"/env/1x"`),
		"env keys":             post(create, `{"env":`+variables(65)+`}`, 422, "env_too_many_keys", "65", "64"),
		"env value":            post(create, `{"env":{"A":"`+strings.Repeat("é", 4097)+`"}}`, 422, "env_value_too_large", "8194", "8192"),
		"env all problems":     post(create, `{"id":"V","env":{"SVC_A":"hunter2","PROJECT_ID":"hunter2"}}`, 422, "invalid_id", "env_reserved_key", "env_platform_key"),

		"cursor":               get("/v1/projects?cursor=nope", 400, "invalid_cursor", "start again without a cursor"),
		"cursor long":          get("/v1/projects?cursor="+strings.Repeat("A", 5000), 400, "invalid_cursor"),
		"cursor right size":    get("/v1/projects?cursor="+base64.RawURLEncoding.EncodeToString(make([]byte, 17)), 400, "invalid_cursor"),
		"cursor spaces":        get("/v1/projects?cursor=%20%0a", 400, "invalid_cursor"),
		"cursor of versions":   get(create+"?cursor=../..", 400, "invalid_cursor"),
		"cursor of promotions": get("/v1/projects/shop/promotions?cursor=x", 400, "invalid_cursor"),
		"limit 0":              get("/v1/projects?limit=0", 400, "invalid_limit", "1 to 200"),
		"limit negative":       get("/v1/projects?limit=-1", 400, "invalid_limit"),
		"limit word":           get("/v1/projects?limit=many", 400, "invalid_limit"),
		"limit twice":          get("/v1/projects?limit=1&limit=2", 400, "invalid_limit"),
		"status":               get(create+"?status=done", 400, "invalid_status", "ready", "failed"),
		"include":              get("/v1/projects/shop?include=everything", 400, "invalid_include"),
		"query":                get("/v1/projects?limit=%zz", 400, "invalid_query"),

		"no version":       get("/v1/projects/shop/versions/v404", 404, "version_not_found", "v404"),
		"no project":       get("/v1/projects/nope", 404, "project_not_found", "nope"),
		"no promotion":     get("/v1/projects/shop/promotions/x", 404, "promotion_not_found"),
		"no path":          get("/v1/nothing", 404, "path_not_found", "openapi.json"),
		"root":             get("/", 404, "path_not_found"),
		"no prefix":        get("/projects", 404, "path_not_found"),
		"odd path":         get("/v1//projects", 404, "path_not_found"),
		"encoded escape":   get("/v1/projects/..%2f..%2fetc%2fpasswd", 404, "project_not_found"),
		"nul in path":      get("/v1/projects/%00", 404, "project_not_found"),
		"promote nothing":  post("/v1/projects/shop/versions/v404/promote", "", 404, "version_not_found"),
		"promote field":    post("/v1/projects/shop/versions/v404/promote", `{"force":true}`, 400, "unknown_field", `"/force"`),
		"wrong method":     {http.MethodPut, "/v1/projects", "{}", 405, "method_not_allowed", []string{"GET", "POST"}},
		"made-up method":   {"BREW", "/v1/health", "", 405, "method_not_allowed", nil},
		"post to a record": post("/v1/projects/shop", "{}", 405, "method_not_allowed"),
	}
}

func variables(n int) string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprintf("K%d", i)] = "v"
	}
	data, err := json.Marshal(all)
	if err != nil {
		panic(err) // strings only
	}
	return string(data)
}

// TestSecretsAreNotRepeated sends secrets in refused requests [D5].
func TestSecretsAreNotRepeated(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_LOG_LEVEL=debug")
	d.project("shop")
	const create = "/v1/projects/shop/versions"
	for _, body := range []string{
		`{"env":{"SVC_A":"hunter2"}}`, `{"env":{"A":["hunter2"]}}`, `{"hunter2":"hunter2"`, `{"id":"v1","env":{"A":"hunter2"},"x":"hunter2"}`,
	} {
		if r := d.deployer(http.MethodPost, create, body); r.status < 400 || strings.Contains(r.body, "hunter2") {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	d.ask(http.MethodGet, "/v1/projects", "hunter2", nil)
	if strings.Contains(d.log.String(), "hunter2") || strings.Contains(d.log.String(), d.note.AdminToken) {
		t.Error("a secret is in the daemon's log")
	}
}

// TestTokens sends every token to servers with each of the three token settings.
// spec: [C15.2] [C15.3] [C15.4] [C15.5] [C15.6] [C15.7] [C15.8] [C15.9] [C16.1] [C16.2] [C16.3]
func TestTokens(t *testing.T) {
	t.Parallel()
	type answers struct{ list, create, version int } // want by token
	for name, tt := range map[string]struct {
		env  []string
		want map[string]answers
	}{
		"split": {
			[]string{"SVC_DEPLOY_TOKEN=deploy-1", "SVC_ADMIN_TOKEN=admin-1"},
			map[string]answers{"deploy-1": {403, 202, 403}, "admin-1": {200, 403, 200}},
		},
		"the same": {
			[]string{"SVC_DEPLOY_TOKEN=both-1", "SVC_ADMIN_TOKEN=both-1"},
			map[string]answers{"both-1": {200, 202, 200}},
		},
		"legacy": {
			[]string{"PLATFORM_TOKEN=legacy-1"},
			map[string]answers{"legacy-1": {200, 202, 200}},
		},
		"legacy and admin": {
			[]string{"PLATFORM_TOKEN=legacy-1", "SVC_ADMIN_TOKEN=admin-1"},
			map[string]answers{"legacy-1": {403, 202, 403}, "admin-1": {200, 403, 200}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := started(t, append(tt.env, "SVC_ARTIFACT_WAIT=1ms")...)
			if d.note.AdminToken != "" || d.note.DeployToken != "" {
				t.Errorf("the note holds the operator's tokens: %+v", d.note)
			}
			for _, unknown := range []string{"", "nope", "deploy-", "admin-1x", " "} {
				tt.want[unknown] = answers{401, 401, 401}
			}
			for token, want := range tt.want {
				if want.list == 200 {
					d.ask(http.MethodPost, "/v1/projects", token, strings.NewReader(`{"id":"shop"}`))
				}
			}
			for token, want := range tt.want {
				d.token(token, http.MethodGet, "/v1/projects", want.list)
				d.token(token, http.MethodPost, "/v1/projects/shop/versions", want.create)
				d.token(token, http.MethodGet, "/v1/runtime/routes", want.list)
				if want.version != 200 {
					d.token(token, http.MethodGet, "/v1/projects/shop/versions/v1", want.version)
				}
			}
			for _, open := range []string{"/v1/health", "/v1/health/deep", "/metrics"} {
				if r := d.ask(http.MethodGet, open, "", nil); r.status != 200 {
					t.Errorf("%s without a token: %d", open, r.status)
				}
			}
		})
	}
}

// token sends a request with a token and checks the form of a refusal.
func (d *daemon) token(token, method, path string, want int) {
	d.t.Helper()
	r := d.ask(method, path, token, strings.NewReader(`{}`))
	switch {
	case r.status != want:
		d.t.Errorf("%s %s with %q: %d, want %d\n%s", method, path, token, r.status, want, r.body)
	case want == 401:
		d.refused(r, 401, "unauthorized")
		if r.header.Get("WWW-Authenticate") != "Bearer" {
			d.t.Errorf("a 401 without WWW-Authenticate: %v", r.header)
		}
	case want == 403:
		d.refused(r, 403, "forbidden", "use the ")
	}
}

// TestAuthorizationHeader sends tokens in forms that the API does not accept.
// spec: [C15.1]
func TestAuthorizationHeader(t *testing.T) {
	t.Parallel()
	d := started(t)
	admin := d.note.AdminToken
	for name, headers := range map[string][]string{
		"basic":      {"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:"+admin))},
		"no scheme":  {"Authorization", admin},
		"two":        {"Authorization", "Bearer " + admin, "Authorization", "Bearer " + admin},
		"two tokens": {"Authorization", "Bearer nope " + admin},
		"empty":      {"Authorization", "Bearer "},
		"cookie":     {"Cookie", "token=" + admin},
	} {
		if r := d.ask(http.MethodGet, "/v1/projects?token="+admin, "", nil, headers...); r.status != 401 {
			t.Errorf("%s: %d", name, r.status)
		}
	}
	if r := d.ask(http.MethodGet, "/v1/projects", "", nil, "Authorization", "bEaReR  "+admin); r.status != 200 {
		t.Errorf("the scheme's case and a space more: %d", r.status)
	}
}

// TestArtifactURIIsIgnored: the control plane alone decides where a bundle is stored.
// spec: [C4.14]
func TestArtifactURIIsIgnored(t *testing.T) {
	t.Parallel()
	d := started(t)
	d.project("shop")
	r := d.deployer(http.MethodPost, "/v1/projects/shop/versions", `{"id":"v1","artifact_uri":"s3://evil/other","upload":true}`)
	var accepted api.VersionAccepted
	if err := json.Unmarshal([]byte(r.body), &accepted); err != nil || r.status != 202 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if err := d.client().Upload(t.Context(), *accepted.Upload, bytes.NewReader(script(t, helloScript)), nil); err != nil {
		t.Fatal(err)
	}
	if v := d.ended("shop", "v1"); v.Status != "ready" {
		t.Errorf("%s: %s", v.Status, v.Error)
	}
}

// TestBrokenOff closes connections in the middle of requests.
func TestBrokenOff(t *testing.T) {
	t.Parallel()
	d := started(t)
	d.project("shop")
	reader, writer := io.Pipe()
	go func() {
		_, _ = io.WriteString(writer, `{"id":`)
		writer.CloseWithError(io.ErrUnexpectedEOF)
	}()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.note.API+"/v1/projects/shop/versions", reader)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+d.note.DeployToken)
	if resp, err := http.DefaultClient.Do(req); err == nil {
		resp.Body.Close()
		t.Errorf("half a request was answered with %d", resp.StatusCode)
	}
	if page, err := d.client().Versions(t.Context(), "shop", "", noPage); err != nil || len(page.Items) != 0 {
		t.Errorf("half a request made %d versions: %v", len(page.Items), err)
	}
}
