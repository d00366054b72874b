package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/all"
	"github.com/svcctl/svcctl/internal/lib/buildinfo"
	"github.com/svcctl/svcctl/internal/obs"
	"github.com/svcctl/svcctl/internal/server/api/feed"
	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/server/logs"
	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/upkeep/checkup"
	"github.com/svcctl/svcctl/internal/server/versions/preview"
	"github.com/svcctl/svcctl/internal/server/versions/retention"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

const (
	deployToken = "deploy-token-of-the-test"
	adminToken  = "admin-token-of-the-test"
)

// harness is a Server over a real registry. It checks every request and response
// against the OpenAPI document.
type harness struct {
	t      *testing.T
	url    string
	db     *registry.DB
	fakes  *fakes
	server *httpapi.Server
	log    *svctest.Buffer
	routes routers.Router
}

// start serves the API; change may replace dependencies.
func start(t *testing.T, change ...func(*httpapi.Deps)) *harness {
	t.Helper()
	db := registrytest.Open(t)
	ingress, err := svc.NewIngress(svc.IngressConfig{BaseDomain: "ingress.local", Port: 8787})
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{t: t, db: db, fakes: newFakes(db), log: &svctest.Buffer{}, routes: document(t)}
	h.fakes.logs = t.TempDir()
	events := feed.New(db, slog.New(slog.DiscardHandler))
	if err := events.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = events.Stop(context.Background()) })
	metrics := obs.NewMetrics(buildinfo.Read())
	d := httpapi.Deps{
		Projects: db, Versions: db, Environments: db, Promotions: db, Previews: preview.New(db, noGateway{}, h.fakes, slog.New(slog.DiscardHandler)), Bundles: h.fakes, Retention: retention.New(retention.Deps{Registry: db, Verbs: h.fakes, Gateway: noGateway{}, Logger: slog.New(slog.DiscardHandler), Failed: svc.Keep{Count: 1}}), Deployer: h.fakes, Promoter: h.fakes, Plans: h.fakes, Lifecycle: h.fakes, Secrets: newSecrets(t, db), Webhooks: newWebhooks(t, db), GC: h.fakes, Uploads: h.fakes, Logs: logs.New(h.fakes.logDir, h.fakes.logDir), ServerLog: obs.NewRecent(nil), Leases: h.fakes, Data: h.fakes, Events: h.fakes, Feed: events,
		Audit:    db,
		Overview: db, Traffic: h.fakes, State: h.fakes, Certificates: h.fakes, Machines: h.fakes, Gateways: h.fakes, Checkup: checkup.New(checkup.Descriptors(1, 8, 1)),
		DataPatterns: binding.Patterns(all.Kinds()),
		Routes:       h.fakes, Runtimes: h.fakes, Registry: db, Store: h.fakes, Queue: db, Metrics: metrics.Handler(), Observer: metrics, Ingress: ingress,
		Logger: slog.New(slog.NewJSONHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Tokens: httpapi.Tokens{Deploy: deployToken, Admin: adminToken}, TicketKey: "key-of-the-test",
		QueueMax: 10, MaxUpload: 1 << 16, Version: "v0-test",
	}
	for _, c := range change {
		c(&d)
	}
	h.fakes.ingress, h.fakes.queueMax = d.Ingress, d.QueueMax
	s, err := httpapi.New(d)
	if err != nil {
		t.Fatal(err)
	}
	h.server = s
	server := httptest.NewServer(recorded(s, h.routes))
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

type noGateway struct{}

func (noGateway) SetProduction(string, string)      {}
func (noGateway) SetPreview(string, string, string) {}
func (noGateway) HoldPreview(string, string)        {}
func (noGateway) ReleasePreview(string, string)     {}

// document returns the OpenAPI document, parsed once because that is slow.
func document(t *testing.T) routers.Router {
	t.Helper()
	router, err := readDocument()
	if err != nil {
		t.Fatal(err)
	}
	return router
}

var readDocument = sync.OnceValues(func() (routers.Router, error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	openapi3filter.RegisterBodyDecoder("application/jsonl", eachLine)
	return legacy.NewRouter(doc)
})

// eachLine checks each line of a response against the schema of a line, and returns the last.
func eachLine(body io.Reader, _ http.Header, schema *openapi3.SchemaRef, _ openapi3filter.EncodingFn) (line any, err error) {
	for lines := json.NewDecoder(body); err == nil && lines.More(); {
		line = nil
		if err = lines.Decode(&line); err == nil {
			err = schema.Value.VisitJSON(line, openapi3.VisitAsResponse())
		}
	}
	return line, err
}

// request is one call.
type request struct {
	method, path string
	token        string // "" for the admin token, "none" for none
	body         any    // a string is sent unchanged
	header       http.Header
	outside      bool // the request violates the document on purpose: only the response is checked
}

// reply is a response and its body.
type reply struct {
	*http.Response
	t    *testing.T
	body []byte
}

// do makes a call and checks request and response against openapi.yaml.
func (h *harness) do(rq request) reply {
	h.t.Helper()
	var body []byte
	switch b := rq.body.(type) {
	case nil:
	case string:
		body = []byte(b)
	default:
		var err error
		if body, err = json.Marshal(b); err != nil {
			h.t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(h.t.Context(), rq.method, h.url+rq.path, bytes.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	maps.Copy(r.Header, rq.header)
	switch rq.token {
	case "":
		r.Header.Set("Authorization", "Bearer "+adminToken)
	case "none":
	default:
		r.Header.Set("Authorization", "Bearer "+rq.token)
	}
	if body != nil && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	got := reply{Response: resp, t: h.t}
	if got.body, err = io.ReadAll(resp.Body); err != nil {
		h.t.Fatal(err)
	}
	h.conforms(rq, r, body, got)
	return got
}

// conforms checks a call against the document.
func (h *harness) conforms(rq request, r *http.Request, body []byte, got reply) {
	h.t.Helper()
	if got.Header.Get("X-Request-Id") == "" || got.Header.Get("Cache-Control") != "no-store" {
		h.t.Errorf("%s %s: the header %v lacks the request id or no-store", rq.method, rq.path, got.Header)
	}
	if got.StatusCode >= 400 && rq.method != http.MethodHead && !strings.HasSuffix(r.URL.Path, "/deep") {
		h.isProblem(rq, got)
	}
	asked := r.Clone(context.Background())
	asked.Body = io.NopCloser(bytes.NewReader(body))
	asked.URL.Scheme, asked.URL.Host = "", "" // the document's server is /v1
	if rq.method == http.MethodHead {
		asked.Method = http.MethodGet
	}
	route, params, err := h.routes.FindRoute(asked)
	if err != nil {
		if got.StatusCode < 400 && r.URL.Path != "/metrics" {
			h.t.Errorf("%s %s is served and not in the document: %v", rq.method, rq.path, err)
		}
		return
	}
	in := &openapi3filter.RequestValidationInput{
		Request: asked, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true},
	}
	if err := openapi3filter.ValidateRequest(h.t.Context(), in); err != nil && !rq.outside {
		h.t.Errorf("%s %s: the request does not conform: %v", rq.method, rq.path, err)
	}
	if rq.method == http.MethodHead {
		return
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: got.StatusCode, Header: got.Header, Options: in.Options}
	if err := openapi3filter.ValidateResponse(h.t.Context(), out.SetBodyBytes(got.body)); err != nil {
		h.t.Errorf("%s %s: the response does not conform: %v\n%s", rq.method, rq.path, err, got.body)
	}
}

// isProblem checks the fields that every problem has [D5][D14].
func (h *harness) isProblem(rq request, got reply) {
	h.t.Helper()
	var p api.Problem
	if ct := got.Header.Get("Content-Type"); ct != "application/problem+json" || json.Unmarshal(got.body, &p) != nil {
		h.t.Errorf("%s %s: %d is no problem document: %s %s", rq.method, rq.path, got.StatusCode, ct, got.body)
		return
	}
	if p.Status != got.StatusCode || p.Code == "" || p.Title == "" || p.Detail == "" || p.Type != "urn:svcctl:problem:"+p.Code ||
		p.RequestID != got.Header.Get("X-Request-Id") {
		h.t.Errorf("%s %s: %d with the problem %+v", rq.method, rq.path, got.StatusCode, p)
	}
	if got.StatusCode == http.StatusServiceUnavailable && got.Header.Get("Retry-After") == "" {
		h.t.Errorf("%s %s: a 503 without Retry-After", rq.method, rq.path)
	}
}

// want fails the test unless the response has the status.
func (r reply) want(status int) reply {
	r.t.Helper()
	if r.StatusCode != status {
		r.t.Fatalf("%s %s: got %d, want %d: %s", r.Request.Method, r.Request.URL.Path, r.StatusCode, status, r.body)
	}
	return r
}

// wantProblem fails the test unless the response is a problem with status and code.
func (r reply) wantProblem(status int, code string) api.Problem {
	r.t.Helper()
	r.want(status)
	p := decode[api.Problem](r)
	if p.Code != code {
		r.t.Errorf("%s %s: got code %s, want %s: %s", r.Request.Method, r.Request.URL.Path, p.Code, code, r.body)
	}
	return p
}

func decode[T any](r reply) T {
	r.t.Helper()
	var v T
	if err := json.Unmarshal(r.body, &v); err != nil {
		r.t.Fatalf("%v in %s", err, r.body)
	}
	return v
}

// project creates a project.
func (h *harness) project(id string) {
	h.t.Helper()
	h.do(request{method: "POST", path: "/v1/projects", body: api.CreateProject{ID: id}}).want(201)
}

// version creates a version.
func (h *harness) version(project, id string) {
	h.t.Helper()
	h.do(request{
		method: "POST", path: "/v1/projects/" + project + "/versions", token: deployToken, body: api.CreateVersion{ID: id},
	}).want(202)
}

// ready creates a version and moves it to ready.
func (h *harness) ready(project, id string) {
	h.t.Helper()
	h.version(project, id)
	h.deploy(svc.Ref{Project: project, Version: id})
}

// deploy moves a pending version to ready.
func (h *harness) deploy(ref svc.Ref) {
	h.t.Helper()
	registrytest.Move(h.t, h.db, ref, registrytest.ToReady()...)
}
