package httpapi_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// spec: [C3.1] [C4.6] [C5.2] [C5.9] [C5.11] [C5.13] [C5.15] [C11.2]
func TestBadBodies(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	const create, project, promote = "/v1/projects/shop/versions", "/v1/projects", "/v1/projects/shop/versions/v/promote"
	const secret = "s3cr3t-value"
	manyKeys := map[string]string{}
	for i := range 65 {
		manyKeys[fmt.Sprintf("K%d", i)] = ""
	}
	for _, tc := range []struct {
		name, path string
		body       any
		status     int
		code       string
		pointer    string // of the first field error, "" for none
	}{
		{"empty", create, "", 400, "body_required", ""},
		{"spaces", create, "  \n", 400, "body_required", ""},
		{"cut off", create, `{"id":"` + secret, 400, "invalid_json", ""},
		{"trailing garbage", create, `{} ` + secret, 400, "invalid_json", ""},
		{"two objects", create, `{}{}`, 400, "invalid_json", ""},
		{"null", create, `null`, 400, "invalid_json", ""},
		{"array", create, `[{"id":"v-1"}]`, 400, "invalid_json", ""},
		{"string", create, `"` + secret + `"`, 400, "invalid_json", ""},
		{"not UTF-8", create, "{\"id\":\"v-\xff\"}", 400, "invalid_json", ""},
		{"deep nesting", create, `{"env":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, 400, "invalid_json", ""},
		{"form", create, "id=v-1", 400, "invalid_json", ""},
		{"unknown field", create, `{"idd":"` + secret + `"}`, 400, "unknown_field", "/idd"},
		{"unknown field by case", create, `{"ID":"v-1"}`, 400, "unknown_field", "/ID"},
		{"unknown field with a slash", create, `{"a/b~c":1}`, 400, "unknown_field", "/a~1b~0c"},
		{"wrong type", create, `{"git_ref":7}`, 400, "invalid_type", "/git_ref"},
		{"wrong type of a flag", create, `{"upload":"yes"}`, 400, "invalid_type", "/upload"},
		{"wrong type of env", create, `{"env":["A"]}`, 400, "invalid_type", "/env"},
		{"number in env", create, `{"env":{"A":12345678901}}`, 400, "invalid_type", "/env/A"},
		{"null in env", create, `{"env":{"A":null}}`, 400, "invalid_type", "/env/A"},
		{"id", create, `{"id":"Upper"}`, 422, "invalid_id", "/id"},
		{"id with a double dash", create, `{"id":"a--b"}`, 422, "invalid_id", "/id"},
		{"id too long", create, `{"id":"` + strings.Repeat("a", 64) + `"}`, 422, "invalid_id", "/id"},
		{"digest", create, `{"artifact_digest":"sha256:ABC"}`, 422, "invalid_digest", "/artifact_digest"},
		{"label too long", create, api.CreateVersion{GitRef: strings.Repeat("r", 256)}, 422, "invalid_label", "/git_ref"},
		{"reserved env", create, api.CreateVersion{Env: map[string]string{"svc_x": secret}}, 422, "env_reserved_key", "/env/svc_x"},
		{"reserved runtime env", create, api.CreateVersion{Env: map[string]string{"RUNTIME_X": secret}}, 422, "env_reserved_key", "/env/RUNTIME_X"},
		{"platform env", create, api.CreateVersion{Env: map[string]string{"PROJECT_ID": secret}}, 422, "env_platform_key", "/env/PROJECT_ID"},
		{"env key", create, api.CreateVersion{Env: map[string]string{"a-b": secret}}, 422, "env_invalid_key", "/env/a-b"},
		{"env value too large", create, api.CreateVersion{Env: map[string]string{"A": strings.Repeat("é", 4097)}}, 422, "env_value_too_large", "/env/A"},
		{"too many env keys", create, api.CreateVersion{Env: manyKeys}, 422, "env_too_many_keys", "/env"},
		{"project without id", project, `{}`, 422, "invalid_id", "/id"},
		{"reserved project", project, `{"id":"localhost"}`, 422, "id_reserved", "/id"},
		{"project with an unknown field", project, `{"id":"a","name":"b"}`, 400, "unknown_field", "/name"},
		{"git remote", project, `{"id":"a","git_remote":"a\u0000b"}`, 422, "invalid_git_remote", "/git_remote"},
		{"promote with an unknown field", promote, `{"force":true}`, 400, "unknown_field", "/force"},
		{"promote with a wrong type", promote, `{"reason":{}}`, 400, "invalid_type", "/reason"},
		{"promote with an array", promote, `[]`, 400, "invalid_json", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			token := adminToken
			if tc.path == create {
				token = deployToken
			}
			got := h.do(request{method: "POST", path: tc.path, token: token, body: tc.body, outside: true})
			p := got.wantProblem(tc.status, tc.code)
			switch {
			case tc.pointer == "" && len(p.Errors) > 0, tc.pointer != "" && (len(p.Errors) == 0 || p.Errors[0].Pointer != tc.pointer):
				t.Errorf("got field errors %v, want %q first", p.Errors, tc.pointer)
			case strings.Contains(string(got.body), secret), strings.Contains(string(got.body), "12345678901"):
				t.Errorf("the response contains a value: %s", got.body)
			}
		})
	}
	if strings.Contains(h.log.String(), secret) {
		t.Error("the log contains a value")
	}
}

func TestAllInvalidFieldsAreListed(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	got := h.do(request{
		method: "POST", path: "/v1/projects/shop/versions", token: deployToken, outside: true,
		body: api.CreateVersion{ID: "-", ArtifactDigest: "x", Env: map[string]string{"SVC_A": "", "ok": "", "1": ""}},
	})
	p := got.wantProblem(422, "invalid_id")
	if len(p.Errors) != 4 {
		t.Errorf("got %v", p.Errors)
	}
	unknown := h.do(request{method: "POST", path: "/v1/projects", body: `{"b":1,"id":"x","a":1}`, outside: true})
	if p := unknown.wantProblem(400, "unknown_field"); len(p.Errors) != 2 || p.Errors[0].Pointer != "/a" {
		t.Errorf("got %v", p.Errors)
	}
}

// spec: [C4.14]
func TestArtifactURIIsIgnored(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.do(request{
		method: "POST", path: "/v1/projects/shop/versions", token: deployToken,
		body: `{"id":"v-1","artifact_uri":"s3://elsewhere/x","parent_version_id":null}`,
	}).want(202)
}

func TestContentTypeDoesNotMatter(t *testing.T) {
	t.Parallel()
	h := start(t)
	for i, ct := range []string{"text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-8"} {
		h.do(request{
			method: "POST", path: "/v1/projects", body: fmt.Sprintf(`{"id":"p%d"}`, i),
			header: http.Header{"Content-Type": {ct}}, outside: !strings.HasPrefix(ct, "application/json"),
		}).want(201)
	}
}

func TestOversizeBodies(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	big := `{"git_ref":"` + strings.Repeat("a", 1<<20) + `"}`
	for path, token := range map[string]string{
		"/v1/projects/shop/versions": deployToken, "/v1/projects": adminToken, "/v1/projects/shop/versions/v/promote": adminToken,
	} {
		h.do(request{method: "POST", path: path, token: token, body: big, outside: true}).wantProblem(413, "body_too_large")
	}
	// The service does not read the body of a request without a token.
	h.do(request{method: "POST", path: "/v1/projects", token: "none", body: big, outside: true}).wantProblem(401, "unauthorized")
}

// TestCutOffBody: a body shorter than its Content-Length creates nothing.
func TestCutOffBody(t *testing.T) {
	t.Parallel()
	h := start(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /v1/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 100\r\n\r\n{\"id\":\"cut\"}", adminToken)
	half, ok := conn.(interface{ CloseWrite() error })
	if !ok {
		t.Fatal("not a TCP connection")
	}
	if err := half.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 12)
	if _, err := conn.Read(answer); err != nil || string(answer) != "HTTP/1.1 400" {
		t.Errorf("got %q, %v", answer, err)
	}
	conn.Close()
	if _, err := h.db.Project(t.Context(), "cut"); svc.CodeOf(err) != "project_not_found" {
		t.Errorf("got %v", err)
	}
}
