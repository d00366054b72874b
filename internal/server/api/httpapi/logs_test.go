package httpapi_test

import (
	"bufio"
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/logs"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func (f *fakes) logDir(ref svc.Ref) string { return filepath.Join(f.logs, ref.Project, ref.Version) }

// logged adds requests to the log of a version.
func (h *harness) logged(project, version string, paths ...string) {
	h.t.Helper()
	ref := svc.Ref{Project: project, Version: version}
	if err := os.MkdirAll(h.fakes.logDir(ref), 0o700); err != nil {
		h.t.Fatal(err)
	}
	r := logs.NewRecorder(h.fakes.logDir, slog.New(slog.DiscardHandler))
	defer r.Close()
	for _, path := range paths {
		i := &svc.Invocation{Kind: svc.LogRequest, Method: "GET", Path: path, Status: 200, Outcome: "ok", Role: svc.RolePreview, ClientID: "ci/1", Duration: 1500 * time.Microsecond}
		r.Record(ref, &svc.LogLine{Time: time.Now(), Level: "info", Source: svc.LogRequest, RequestID: "0af7651916cd43dd", Invocation: i})
	}
}

const logsPath = "/v1/projects/shop/versions/v-1/logs"

// TestLogs: a page, the one after it, and the parameters.
func TestLogs(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.version("shop", "v-1")
	if got := decode[api.LogLines](h.do(request{method: "GET", path: logsPath}).want(200)); got.Items == nil || len(got.Items) != 0 || got.NextCursor == "" {
		t.Errorf("of a version that never ran: %+v", got)
	}
	h.logged("shop", "v-1", "/a", "/b", "/c")
	page := decode[api.LogLines](h.do(request{method: "GET", path: logsPath + "?tail=2"}).want(200))
	if len(page.Items) != 2 || page.Items[0].Message != "GET /b 200 after 2ms" || page.Items[0].RequestID != "0af7651916cd43dd" || page.Items[0].VersionID != "v-1" {
		t.Fatalf("got %+v", page)
	}
	if i := page.Items[1].Invocation; i == nil || *i != (api.Invocation{Kind: "request", Method: "GET", Path: "/c", Status: 200, Outcome: "ok", Role: "preview", ClientRequestID: "ci/1", DurationMs: 1.5}) {
		t.Errorf("got %+v", i)
	}
	h.logged("shop", "v-1", "/d", "/e")
	page = decode[api.LogLines](h.do(request{method: "GET", path: logsPath + "?tail=1&cursor=" + page.NextCursor}).want(200))
	if len(page.Items) != 1 || page.Items[0].Invocation.Path != "/d" {
		t.Errorf("after the cursor: %+v", page)
	}
	for query, n := range map[string]int{"?path=/d": 1, "?status=2xx": 5, "?status=500": 0, "?request=0af7": 5, "?request=ci/1": 5, "?search=GET%20/E": 1, "?level=error": 0, "?since=10m": 5, "?tail=5000": 5} {
		if got := decode[api.LogLines](h.do(request{method: "GET", path: logsPath + query}).want(200)); len(got.Items) != n {
			t.Errorf("%s: %+v", query, got)
		}
	}
	for query, code := range map[string]string{
		"?tail=0": "invalid_tail", "?since=soon": "invalid_parameter", "?level=loud": "invalid_parameter", "?status=700": "invalid_parameter",
		"?request=ab": "invalid_parameter", "?follow=perhaps": "invalid_parameter", "?cursor=x": "invalid_cursor", "?cursor=v-1.!.1": "invalid_cursor",
		"?levels=error": "unknown_parameter", "?follow=true&level=loud": "invalid_parameter",
	} {
		h.do(request{method: "GET", path: logsPath + query, outside: true}).wantProblem(400, code)
	}
	h.do(request{method: "GET", path: "/v1/projects/shop/versions/v-9/logs"}).wantProblem(404, "version_not_found")
	h.do(request{method: "GET", path: logsPath, token: deployToken}).wantProblem(403, "forbidden")
}

// stream opens a stream and returns its lines, without empty ones.
func (h *harness) stream(ctx context.Context, path string, header http.Header) (kind string, lines chan string) {
	h.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+path, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header = header.Clone()
	r.Header.Set("Authorization", "Bearer "+adminToken)
	resp, err := http.DefaultClient.Do(r) //nolint:bodyclose // the reader below closes it
	if err != nil {
		h.t.Fatal(err)
	}
	lines = make(chan string)
	go func() {
		defer close(lines)
		defer resp.Body.Close()
		for s := bufio.NewScanner(resp.Body); s.Scan(); {
			if s.Text() != "" {
				lines <- s.Text()
			}
		}
	}()
	h.t.Cleanup(func() {
		for range lines { // the reader ends with ctx
		}
	})
	return resp.Header.Get("Content-Type"), lines
}

// TestLogsAsEvents: server-sent events continue after Last-Event-ID.
func TestLogsAsEvents(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.version("shop", "v-1")
	h.logged("shop", "v-1", "/a", "/b")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	kind, lines := h.stream(ctx, logsPath+"?follow=true", http.Header{"Accept": {"text/event-stream"}})
	first := <-lines
	if kind != "text/event-stream" || !strings.HasPrefix(first, "id: ") || <-lines != "event: log" || !strings.Contains(<-lines, `"path":"/a"`) {
		t.Fatalf("%s, %s", kind, first)
	}
	cancel()
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	_, lines = h.stream(ctx, logsPath+"?follow=true", http.Header{"Accept": {"text/event-stream"}, "Last-Event-Id": {strings.TrimPrefix(first, "id: ")}})
	<-lines
	<-lines
	if data := <-lines; !strings.HasPrefix(data, "data: {") || !strings.Contains(data, `"path":"/b"`) {
		t.Errorf("after the first event: %s", data)
	}
	cancel()
}

// TestFollowProject: entries come while they are written, and those of the next production
// after a promote. The stream ends when the version is destroyed.
func TestFollowProject(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.do(request{method: "GET", path: "/v1/projects/shop/logs"}).wantProblem(404, "version_not_found")
	h.ready("shop", "v-1")
	h.ready("shop", "v-2")
	h.logged("shop", "v-1", "/old")
	h.logged("shop", "v-2", "/before")
	promote := func(v string) {
		t.Helper()
		h.do(request{method: "POST", path: "/v1/projects/shop/versions/" + v + "/promote"}).want(202)
	}
	promote("v-1")
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var got []string
	for l, err := range c.FollowLogs(ctx, "shop", "", client.LogQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		path := l.VersionID + l.Invocation.Path
		if got = append(got, path); path == "v-1/old" {
			h.logged("shop", "v-1", "/new")
		} else if path == "v-1/new" {
			promote("v-2")
			h.logged("shop", "v-2", "/after")
		} else if path == "v-2/after" {
			break
		}
	}
	if text := strings.Join(got, " "); !strings.HasPrefix(text, "v-1/old v-1/new ") || !strings.HasSuffix(text, " v-2/after") {
		t.Errorf("followed %s", text)
	}
	page, err := c.ReadLogs(ctx, "shop", "", client.LogQuery{Tail: 1})
	if err != nil || len(page.Items) != 1 || page.Items[0].Invocation.Path != "/after" {
		t.Errorf("%+v, %v", page, err)
	}
	for l, err := range c.FollowLogs(ctx, "shop", "v-1", client.LogQuery{Tail: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		if l.Invocation.Path == "/new" {
			h.do(request{method: "DELETE", path: "/v1/projects/shop/versions/v-1"}).want(200)
		}
	}
	if ctx.Err() != nil {
		t.Error("the stream of a destroyed version does not end")
	}
}
