package httpapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/fleet/process"
	"github.com/svcctl/svcctl/internal/fleet/supervisor"
	"github.com/svcctl/svcctl/internal/host/binding/all"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestRefusalsOfInstances: an instance exists once, and is not changed after its end.
func TestRefusalsOfInstances(t *testing.T) {
	t.Parallel()
	h := withData(t, bundle.Binding{Name: "FLOW", Kind: "workflow", Resource: "flow", Config: []byte(`{"class_name":"Flow"}`)})
	const flow = v1 + "/workflows/flow/instances"
	create := request{method: "POST", path: flow, body: `{"id":"i"}`, outside: true}
	h.do(create).want(200)
	h.do(create).wantProblem(409, "instance_exists")
	h.do(request{method: "POST", path: flow + "/i/terminate"}).want(200)
	h.refuse(flow, []refused{
		{"POST", "/i/terminate", nil, nil, 409, "instance_state"},
		{"POST", "/i/resume", nil, nil, 409, "instance_state"},
	})
}

// TestRefusalsOfFiles: exports, imports and objects have codes of their own.
func TestRefusalsOfFiles(t *testing.T) {
	t.Parallel()
	h := withData(t,
		bundle.Binding{Name: "DB", Kind: "database", Resource: "main"}, bundle.Binding{Name: "OTHER", Kind: "database", Resource: "other"}, files())
	h.query(api.DatabaseQuery{Binding: "DB", SQL: "CREATE VIRTUAL TABLE words USING fts5(text); DROP TABLE words_config", ReadOnly: new(bool)}).want(200)
	h.query(api.DatabaseQuery{Binding: "OTHER", SQL: "CREATE VIRTUAL TABLE words USING fts5(text)", ReadOnly: new(bool)}).want(200)
	octets := http.Header{"Content-Type": {"application/octet-stream"}}
	h.refuse(v1, []refused{
		{"GET", "/database/tables?binding=DB", nil, nil, 422, "sql_error"},
		{"GET", "/database/export?binding=NO", nil, nil, 404, "binding_not_found"},
		{"GET", "/database/export", nil, nil, 400, "binding_required"},
		{"GET", "/database/export?binding=OTHER", nil, nil, 422, "sql_error"},
		{"POST", "/database/import", "SELECT 1;", octets, 400, "binding_required"},
		{"GET", "/objects/NO/k", nil, nil, 404, "binding_not_found"},
		{"PUT", "/objects/NO/k", "x", octets, 404, "binding_not_found"},
		{"GET", "/objects/FILES/" + strings.Repeat("k", 2000), nil, nil, 400, "invalid_key"},
	})
}

// TestBodiesThatEnd: a client that sends less than it said is answered, also if it said too
// much.
func TestBodiesThatEnd(t *testing.T) {
	t.Parallel()
	h := withData(t, append(one(), files())...)
	h.cut("PUT "+v1+"/kv/KV/values/k", 10, "400 Bad Request", "body_incomplete")
	h.cut("POST "+v1+"/database/import", 10, "400 Bad Request", "body_incomplete")
	h.cut("PUT "+v1+"/objects/FILES/k", 5<<30, "413 Request Entity Too Large", "object_too_large")
	h.cut("PUT "+v1+"/objects/FILES/k", 5<<30+1, "413 Request Entity Too Large", "body_too_large")
}

// cut sends three bytes of a body that has size.
func (h *harness) cut(call string, size int64, status, code string) {
	h.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(h.t.Context(), "tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\nabc",
		call, adminToken, size)
	if tcp, ok := conn.(*net.TCPConn); err == nil && ok {
		err = tcp.CloseWrite()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	var p api.Problem
	if err := json.NewDecoder(resp.Body).Decode(&p); err != nil || resp.Status != status || p.Code != code {
		h.t.Errorf("%s: %s %+v, %v; want %s %s", call, resp.Status, p, err, status, code)
	}
}

// TestDatabaseBusy: requests that find no turn before their time ends.
func TestDatabaseBusy(t *testing.T) {
	t.Parallel()
	h := withData(t, bundle.Binding{Name: "DB", Kind: "database", Resource: "main"})
	handler := h.fakes.bindings.Data(func(http.ResponseWriter, *http.Request, error) {})
	for range 2 { // as many as look into a database together
		ended := make(chan struct{})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/database/query", strings.NewReader(
			`{"sql":"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c"}`))
		go func() {
			defer close(ended)
			handler.ServeHTTP(httptest.NewRecorder(), r)
		}()
		t.Cleanup(func() { <-ended })
	}
	h.fakes.patience = 50 * time.Millisecond
	octets := http.Header{"Content-Type": {"application/octet-stream"}}
	for _, rq := range []request{
		{method: "GET", path: v1 + "/database/tables"},
		{method: "GET", path: v1 + "/database/tables/t/rows"},
		{method: "GET", path: v1 + "/database/export"},
		{method: "POST", path: v1 + "/database/query", body: api.DatabaseQuery{SQL: "SELECT 1"}},
		{method: "POST", path: v1 + "/database/import", body: "SELECT 1;", header: octets, outside: true},
	} {
		svctest.Eventually(t, rq.path, func() bool {
			got := h.do(rq)
			return got.StatusCode == http.StatusServiceUnavailable && decode[api.Problem](got).Code == "database_busy"
		})
	}
}

// withoutStore serves a version whose object store has gone after it was opened.
func withoutStore(t *testing.T, change func(*dataplane.Config), bindings ...bundle.Binding) *harness {
	t.Helper()
	bucket := objstoretest.NewFaulty(&memstore.Bucket{}, objstoretest.Faults{Before: 1}, 1)
	bucket.Off.Store(true)
	log := slog.New(slog.DiscardHandler)
	branches, err := branch.New(branch.Config{Data: bucket, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	c := dataplane.Config{
		Ref: svc.Ref{Project: "shop", Version: "v-1"}, Dir: t.TempDir(), Bucket: bucket, Branches: branches,
		Owner: svc.Owner{Node: "test", Session: "test"}, Logger: log, Window: time.Millisecond,
	}
	change(&c)
	volumes, err := dataplane.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		bucket.Off.Store(true)
		if err := volumes.Close(); err != nil {
			t.Errorf("closing the volumes: %v", err)
		}
	})
	h := start(t)
	h.project("shop")
	h.ready("shop", "v-1")
	h.fakes.bindings = bindingtest.OpenSet(t, volumes, all.Kinds(), bindings...)
	bucket.Off.Store(false)
	return h
}

// TestWithoutTheStore: writes that the object store does not take.
func TestWithoutTheStore(t *testing.T) {
	t.Parallel()
	octets := http.Header{"Content-Type": {"application/octet-stream"}}
	put := func(path string) request {
		return request{method: "PUT", path: v1 + path, body: "x", header: octets, outside: true}
	}
	t.Run("not_durable", func(t *testing.T) {
		t.Parallel()
		h := withoutStore(t, func(c *dataplane.Config) { c.Sync = true }, one()...)
		h.fakes.patience = time.Second
		h.do(put("/kv/KV/values/k")).wantProblem(503, "not_durable")
	})
	t.Run("data_behind", func(t *testing.T) {
		t.Parallel()
		h := withoutStore(t, func(*dataplane.Config) {}, one()...)
		h.do(put("/kv/KV/values/k")).want(204)
		svctest.Eventually(t, "a refusal", func() bool {
			got := h.do(put("/kv/KV/values/k"))
			return got.StatusCode == http.StatusServiceUnavailable && decode[api.Problem](got).Code == "data_behind"
		})
	})
	t.Run("blob_not_stored", func(t *testing.T) {
		t.Parallel()
		h := withoutStore(t, func(*dataplane.Config) {}, files())
		h.fakes.patience = time.Second
		rq := put("/objects/FILES/k")
		rq.body = strings.Repeat("x", 1<<20)
		h.do(rq).wantProblem(503, "blob_not_stored")
	})
}

// TestDataOfAStoppingServer: a server that stops sends nothing to runtimes.
func TestDataOfAStoppingServer(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	hosts, err := process.New(process.Config{Logger: log, Command: []string{"/bin/true"}, Workerd: "/bin/true", RunDir: svctest.ShortDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	runtimes, err := supervisor.New(supervisor.Config{Logger: log, Driver: hosts})
	if err != nil {
		t.Fatal(err)
	}
	h := start(t, func(d *httpapi.Deps) { d.Data = runtimes })
	h.project("shop")
	h.ready("shop", "v-1")
	if err := runtimes.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.get("/kv/KV/keys").wantProblem(503, "shutting_down")
}
