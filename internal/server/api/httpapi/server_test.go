package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// spec: [C11.1]
func TestUnknownPathsAndMethods(t *testing.T) {
	t.Parallel()
	h := start(t)
	for _, tc := range []struct {
		method, path string
		status       int
		code, allow  string
	}{
		{"GET", "/", 404, "path_not_found", ""},
		{"GET", "/v1", 404, "path_not_found", ""},
		{"GET", "/v1/", 404, "path_not_found", ""},
		{"GET", "/v1/nothing", 404, "path_not_found", ""},
		{"GET", "/v2/projects", 404, "path_not_found", ""},
		{"GET", "/v1/projects/", 404, "path_not_found", ""},
		{"GET", "/v1//projects", 404, "path_not_found", ""},
		{"GET", "/v1/../v1/projects", 404, "path_not_found", ""},
		{"GET", "/v1/%2e%2e/metrics", 404, "path_not_found", ""},
		{"POST", "/v1/health", 405, "method_not_allowed", "GET, HEAD"},
		{"DELETE", "/v1/projects", 405, "method_not_allowed", "GET, HEAD, POST"},
		{"PATCH", "/v1/projects/shop/versions/v-1", 405, "method_not_allowed", "DELETE, GET, HEAD"},
		{"GET", "/v1/projects/shop/versions/v-1/promote", 405, "method_not_allowed", "POST"},
		{"GET", "/v1/uploads/x", 405, "method_not_allowed", "PUT"},
		{"OPTIONS", "/v1/projects", 405, "method_not_allowed", "GET, HEAD, POST"},
		{"BREW", "/metrics", 405, "method_not_allowed", "GET, HEAD"},
	} {
		t.Run(tc.method+" "+tc.path, func(t *testing.T) {
			t.Parallel()
			got := h.do(request{method: tc.method, path: tc.path, token: "none", outside: true})
			got.wantProblem(tc.status, tc.code)
			if allow := got.Header.Get("Allow"); allow != tc.allow {
				t.Errorf("Allow is %q, want %q", allow, tc.allow)
			}
		})
	}
}

func TestHeadIsGetWithoutBody(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	for _, path := range []string{"/v1/health", "/v1/projects", "/v1/projects/shop", "/v1/projects/shop/versions", "/v1/openapi.json", "/v1/projects/unknown"} {
		get, head := h.do(request{method: "GET", path: path}), h.do(request{method: "HEAD", path: path})
		if head.StatusCode != get.StatusCode || len(head.body) != 0 || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") ||
			head.Header.Get("ETag") != get.Header.Get("ETag") {
			t.Errorf("%s: GET %d %v, HEAD %d %v %q", path, get.StatusCode, get.Header, head.StatusCode, head.Header, head.body)
		}
	}
	h.do(request{method: "HEAD", path: "/v1/projects", token: "none"}).want(401)
}

// TestOperationsOfLaterVersions: operations that this version does not have answer
// 501, with the right token.
func TestRequestIDs(t *testing.T) {
	t.Parallel()
	h := start(t)
	for sent, kept := range map[string]bool{
		"abc-1.2_3": true, strings.Repeat("a", 128): true, strings.Repeat("a", 129): false, "a b": false, "a\"b": false, "": false,
	} {
		got := h.do(request{method: "GET", path: "/v1/health", header: http.Header{"X-Request-Id": {sent}}}).Header.Get("X-Request-Id")
		if (got == sent) != kept || got == "" {
			t.Errorf("sent %q, got %q", sent, got)
		}
	}
	got := h.do(request{method: "GET", path: "/v1/projects/unknown", header: http.Header{"X-Request-Id": {"mine"}}})
	if p := got.wantProblem(404, "project_not_found"); p.RequestID != "mine" || p.Instance != "/v1/projects/unknown" {
		t.Errorf("got %+v", p)
	}
	if !strings.Contains(h.log.String(), `"request_id":"mine"`) {
		t.Error("the log lacks the request id")
	}
}

// TestErrorsOfServices: each kind of error has one status; causes appear only in the
// log.
func TestErrorsOfServices(t *testing.T) {
	t.Parallel()
	const secret = "cause-with-a-secret"
	cause := errors.New(secret)
	for _, tc := range []struct {
		err    error
		status int
		code   string
	}{
		{svc.Errorf(svc.BadRequest, "c", "d").Because(cause), 400, "c"},
		{svc.Errorf(svc.Unauthorized, "c", "d").Because(cause), 401, "c"},
		{svc.Errorf(svc.Forbidden, "c", "d").Because(cause), 403, "c"},
		{svc.Errorf(svc.NotFound, "c", "d").Because(cause), 404, "c"},
		{svc.Errorf(svc.Conflict, "version_not_ready", "d").Because(cause), 409, "version_not_ready"},
		{svc.Errorf(svc.Gone, "c", "d").Because(cause), 410, "c"},
		{svc.Errorf(svc.Precondition, "c", "d").Because(cause), 412, "c"},
		{svc.Errorf(svc.TooLarge, "c", "d").Because(cause), 413, "c"},
		{svc.Errorf(svc.Unprocessable, "fork_of_production", "d").Because(cause), 422, "fork_of_production"},
		{svc.Errorf(svc.Unavailable, "c", "d").Because(cause), 503, "c"},
		{svc.Errorf(svc.Internal, "env_restart_failed", "d").Because(cause), 500, "env_restart_failed"},
		{fmt.Errorf("doing it: %w", svc.Errorf(svc.Conflict, "c", "d").Because(cause)), 409, "c"},
		{cause, 500, "internal"},
		{fmt.Errorf("%s: %w", secret, context.DeadlineExceeded), 503, "timeout"},
	} {
		t.Run(fmt.Sprint(tc.status, " ", tc.code), func(t *testing.T) {
			t.Parallel()
			h := start(t)
			h.fakes.fail(tc.err)
			got := h.do(request{method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: "{}"})
			got.wantProblem(tc.status, tc.code)
			if strings.Contains(string(got.body), secret) {
				t.Errorf("the response has the cause: %s", got.body)
			}
			if tc.status == 500 && !strings.Contains(h.log.String(), secret) {
				t.Error("the log lacks the cause")
			}
		})
	}
}

func TestRetryAfterAndHint(t *testing.T) {
	t.Parallel()
	h := start(t)
	e := svc.Errorf(svc.Unavailable, "busy", "come back").WithHint("later")
	e.RetryAfter = 1500 * time.Millisecond
	h.fakes.fail(e)
	got := h.do(request{method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: "{}"})
	if p := got.wantProblem(503, "busy"); p.Hint != "later" || p.Title != "Busy" || got.Header.Get("Retry-After") != "2" {
		t.Errorf("got %s after %s", got.body, got.Header.Get("Retry-After"))
	}
}

func TestPanicIsAProblem(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.fakes.panics = true
	got := h.do(request{method: "GET", path: "/v1/runtime/routes"})
	got.wantProblem(500, "internal")
	if strings.Contains(string(got.body), "secret-in-a-panic") || !strings.Contains(h.log.String(), "secret-in-a-panic") {
		t.Errorf("got %s", got.body)
	}
	h.do(request{method: "GET", path: "/v1/health"}).want(200)
}

// spec: [C11.6] [C11.7] [C15.9]
func TestAccessLogAndMetrics(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.do(request{method: "GET", path: "/v1/projects/shop"}).want(200)
	h.do(request{method: "GET", path: "/nothing-here"}).want(404)
	h.do(request{method: "BREW", path: "/v1/health", outside: true}).want(405)
	text := string(h.do(request{method: "GET", path: "/metrics", token: "none"}).want(200).body)
	for _, want := range []string{
		`svc_http_requests_total{code="201",method="POST",route="/v1/projects"} 1`,
		`svc_http_requests_total{code="200",method="GET",route="/v1/projects/{project}"} 1`,
		`svc_http_requests_total{code="404",method="GET",route="unmatched"} 1`,
		`svc_http_requests_total{code="405",method="other",route="unmatched"} 1`,
		"svc_build_info{",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
	var line struct {
		Level   string `json:"level"`
		Route   string `json:"route"`
		Project string `json:"project"`
		Role    string `json:"role"`
		Status  int    `json:"status"`
	}
	if err := json.Unmarshal([]byte(strings.Split(h.log.String(), "\n")[1]), &line); err != nil {
		t.Fatal(err)
	}
	if line.Level != "DEBUG" || line.Route != "/v1/projects/{project}" || line.Project != "shop" || line.Role != "admin" || line.Status != 200 {
		t.Errorf("got %+v", line)
	}
	if strings.Contains(h.log.String(), adminToken) {
		t.Error("a token is in the log")
	}
}

// spec: [C11.3] [C11.4] [C15.7] [C15.8]
func TestHealth(t *testing.T) {
	t.Parallel()
	h := start(t)
	got := decode[api.Health](h.do(request{method: "GET", path: "/v1/health", token: "none"}).want(200))
	if got.Status != "ok" || got.Version != "v0-test" || got.UptimeSeconds < 0 {
		t.Errorf("got %+v", got)
	}
	deep := decode[api.DeepHealth](h.do(request{method: "GET", path: "/v1/health/deep", token: "none"}).want(200))
	if deep.Status != "ok" || deep.Checks.Registry.Status != "ok" || deep.Checks.Queue.QueueMax != 10 || deep.Code != "" {
		t.Errorf("got %+v", deep)
	}
	h.fakes.mu.Lock()
	h.fakes.storeErr = errors.New("dial tcp 10.0.0.1: key-of-the-store")
	h.fakes.mu.Unlock()
	sick := h.do(request{method: "GET", path: "/v1/health/deep", token: "none"}).want(503)
	d := decode[api.DeepHealth](sick)
	if d.Status != "unavailable" || d.Checks.Store.Status != "unavailable" || d.Checks.Registry.Status != "ok" || d.QueueFull ||
		strings.Contains(string(sick.body), "key-of-the-store") || sick.Header.Get("Retry-After") == "" {
		t.Errorf("got %s", sick.body)
	}
	h.fakes.mu.Lock()
	h.fakes.storeErr = fmt.Errorf("writing /a/path: %w", syscall.ENOSPC)
	h.fakes.mu.Unlock()
	d = decode[api.DeepHealth](h.do(request{method: "GET", path: "/v1/health/deep", token: "none"}).want(503))
	if d.Checks.Store.Detail != "disk full" {
		t.Errorf("got %+v", d.Checks.Store)
	}
	h.db.Close()
	d = decode[api.DeepHealth](h.do(request{method: "GET", path: "/v1/health/deep", token: "none"}).want(503))
	if d.Checks.Registry.Status != "unavailable" || d.Checks.Queue.Status != "unavailable" {
		t.Errorf("got %+v", d)
	}
	h.do(request{method: "GET", path: "/v1/health", token: "none"}).want(200) // no I/O
}

// TestHealthOfVersions: versions that do not serve are named, with status 200.
func TestHealthOfVersions(t *testing.T) {
	t.Parallel()
	h := start(t)
	for i := range 150 {
		h.fakes.down = append(h.fakes.down, svc.Ref{Project: "shop", Version: fmt.Sprintf("v%03d", i)})
	}
	deep := decode[api.DeepHealth](h.do(request{method: "GET", path: "/v1/health/deep", token: "none"}).want(200))
	now := deep.Checks.Versions
	if deep.Status != "degraded" || deep.Code != "" || now.Status != "degraded" || now.Detail != "150 ready versions do not serve" || len(now.NotServing) != 100 || now.NotServing[0] != "shop/v000" {
		t.Errorf("got %+v", deep)
	}
	h.fakes.down = nil
	deep = decode[api.DeepHealth](h.do(request{method: "GET", path: "/v1/health/deep", token: "none"}).want(200))
	if deep.Status != "ok" || deep.Checks.Versions.Status != "ok" {
		t.Errorf("got %+v", deep)
	}
}

// TestHealthOfTokens: a file of tokens that cannot be read is named, with status 200 and without its
// contents.
func TestHealthOfTokens(t *testing.T) {
	t.Parallel()
	var trouble atomic.Pointer[svc.TokensTrouble]
	h := start(t, func(d *httpapi.Deps) { d.Tokens.Trouble = trouble.Load })
	for _, broken := range []*svc.TokensTrouble{nil, {File: "/etc/tokens.yaml", Detail: "token 1 (ana)", Valid: 1}, nil} {
		trouble.Store(broken)
		want := api.TokensHealth{Status: "ok"}
		if broken != nil {
			want = api.TokensHealth{Status: "degraded", Detail: "SVC_TOKENS_FILE cannot be read"}
		}
		deep := decode[api.DeepHealth](h.do(request{method: "GET", path: "/v1/health/deep", token: "none"}).want(200))
		if deep.Status != want.Status || deep.Checks.Tokens != want {
			t.Errorf("got %+v", deep)
		}
	}
}

// TestRuntimeOfAVersion: the record shows the state of the runtime, which does not move
// the ETag.
func TestRuntimeOfAVersion(t *testing.T) {
	t.Parallel()
	h := start(t)
	registrytest.AddProject(t, h.db, "shop")
	v := registrytest.Add(t, h.db, "shop", "v1", registrytest.ToReady()...)
	path := "/v1/projects/shop/versions/v1"
	first := h.do(request{method: "GET", path: path}).want(200)
	if got := decode[api.Version](first); got.Runtime == nil || got.Runtime.State != "stopped" {
		t.Errorf("without a runtime: %+v", got.Runtime)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h.fakes.runtimes = map[svc.Ref]svc.Runtime{v.Ref: {
		Ref: v.Ref, State: svc.RuntimeBackoff, Since: at, RetryAt: at.Add(time.Minute), Restarts: 7, LastError: "unresponsive: it loops",
	}}
	second := h.do(request{method: "GET", path: path}).want(200)
	want := &api.Runtime{State: "backoff", Since: api.MaybeAt(at), RetryAt: api.MaybeAt(at.Add(time.Minute)), Restarts: 7, LastError: "unresponsive: it loops"}
	if diff := cmp.Diff(want, decode[api.Version](second).Runtime); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if first.Header.Get("ETag") != second.Header.Get("ETag") {
		t.Error("the runtime moves the ETag")
	}
	h.fakes.runtimes[v.Ref] = svc.Runtime{Ref: v.Ref, State: svc.RuntimeServing, Endpoint: svc.Endpoint{Node: "pod-1", ClusterNode: "node-a"}}
	if got := decode[api.Version](h.do(request{method: "GET", path: path}).want(200)); got.Runtime.Node != "pod-1" || got.Runtime.ClusterNode != "node-a" {
		t.Errorf("in a pod: %+v", got.Runtime)
	}
	h.fakes.runtimes[v.Ref] = svc.Runtime{Ref: v.Ref, State: svc.RuntimeBackoff, Restarts: 7}
	list := decode[api.VersionPage](h.do(request{method: "GET", path: "/v1/projects/shop/versions"}).want(200))
	if len(list.Items) != 1 || list.Items[0].Runtime == nil || list.Items[0].Runtime.Restarts != 7 {
		t.Errorf("got %+v", list)
	}
	registrytest.Add(t, h.db, "shop", "v2")
	if got := decode[api.Version](h.do(request{method: "GET", path: "/v1/projects/shop/versions/v2"}).want(200)); got.Runtime != nil {
		t.Errorf("a version that is not deployed has %+v", got.Runtime)
	}
}

// spec: [C11.8]
func TestRoutes(t *testing.T) {
	t.Parallel()
	h := start(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h.fakes.routes = []svc.Route{
		{
			Host: "shop.ingress.local", Role: svc.RoleProduction, Ref: svc.Ref{Project: "shop", Version: "v-1"}, Inflight: 1,
			Upstream: svc.Upstream{Status: svc.StatusReady},
			Runtime:  svc.Runtime{State: svc.RuntimeServing, RSSBytes: 9, Endpoint: svc.Endpoint{Port: 81, PortKey: "of this start", PID: 7, StartedAt: at}},
		},
		{
			Host: "v-1.shop.ingress.local", Role: svc.RolePreview, Ref: svc.Ref{Project: "shop", Version: "v-1"},
			Upstream: svc.Upstream{Status: svc.StatusArchived},
		},
	}
	for project, want := range map[string]int{"shop": 2, "other": 0} {
		if some := decode[api.RoutePage](h.do(request{method: "GET", path: "/v1/runtime/routes?project=" + project}).want(200)); len(some.Items) != want {
			t.Errorf("of the project %s: %+v", project, some)
		}
	}
	got := decode[api.RoutePage](h.do(request{method: "GET", path: "/v1/runtime/routes"}).want(200))
	if len(got.Items) != 2 || got.NextCursor != nil || got.Items[0].Role != "production" || !got.Items[0].StartedAt.Equal(at) ||
		got.Items[0].Upstream != "127.0.0.1:81" || got.Items[0].UpstreamKey != "of this start" || got.Items[0].State != "serving" ||
		got.Items[1].StartedAt != nil || got.Items[0].Runtime == nil || got.Items[0].Runtime.State != "serving" || got.Items[1].Runtime != nil || got.Items[1].Role != "preview" || got.Items[1].Upstream != "" || got.Items[1].State != "archived" {
		t.Errorf("got %+v", got)
	}
}

// spec: [C11.9]
func TestOpenAPIDocumentIsServed(t *testing.T) {
	t.Parallel()
	h := start(t)
	got := h.do(request{method: "GET", path: "/v1/openapi.json", token: "none"}).want(200)
	if string(got.body) != string(api.OpenAPI()) || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("got %d bytes of %s", len(got.body), got.Header.Get("Content-Type"))
	}
}

func TestGeneratedURLs(t *testing.T) {
	t.Parallel()
	h := start(t)
	proxied := h.do(request{method: "POST", path: "/v1/projects", body: `{"id":"a"}`, header: http.Header{"X-Forwarded-Proto": {"https"}}})
	if got, want := proxied.Header.Get("Location"), strings.Replace(h.url, "http:", "https:", 1)+"/v1/projects/a"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	public := start(t, func(d *httpapi.Deps) { d.PublicURL = "https://deploy.example" })
	if got := public.do(request{method: "POST", path: "/v1/projects", body: `{"id":"a"}`}).Header.Get("Location"); got != "https://deploy.example/v1/projects/a" {
		t.Errorf("got %s", got)
	}
}
