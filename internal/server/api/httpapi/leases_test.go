package httpapi_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/obs"
	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// Nodes implements httpapi.Leases: this node, and one that was stopped.
func (f *fakes) Nodes(context.Context) ([]svc.NodeLease, time.Duration, error) {
	return []svc.NodeLease{
		{Owner: svc.Owner{Node: "a", Session: "1"}, Here: true, Renewed: time.Unix(1_790_000_000, 0)}, {Owner: svc.Owner{Node: "b", Session: "2"}, Released: true},
	}, 15 * time.Second, f.failure()
}

// Owners implements httpapi.Leases: the versions "v-1" are this node's, the others were never opened.
func (f *fakes) Owners(_ context.Context, versions []svc.Ref) ([]svc.DataOwner, error) {
	list := make([]svc.DataOwner, len(versions))
	for i, v := range versions {
		if v.Version == "v-1" {
			list[i] = svc.DataOwner{State: "live", Owner: svc.Owner{Node: "a", Session: "1"}, Here: true, Epoch: 3, TakenOver: true, Changed: time.Unix(1_790_000_000, 0)}
		}
	}
	return list, f.failure()
}

// TestLeases: who owns the data of the versions, page by page, and the nodes.
func TestLeases(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.project("blog")
	h.ready("shop", "v-1")
	h.version("blog", "v-2")
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	first, err := c.Leases(t.Context(), "", client.Page{Limit: 1})
	if err != nil || first.LeaseTTLSeconds != 15 || len(first.Nodes) != 2 || !first.Nodes[0].ThisServer || first.Nodes[0].RenewedAt.Unix() != 1_790_000_000 || !first.Nodes[1].Released || !first.Nodes[1].RenewedAt.IsZero() {
		t.Errorf("nodes: %+v, %v", first, err)
	}
	if len(first.Items) != 1 || first.Items[0].VersionID != "v-2" || first.Items[0].Data != api.DataOwnerDataNone || first.Items[0].Node != "" || first.NextCursor == nil {
		t.Fatalf("a version that was never opened: %+v", first.Items)
	}
	next, err := c.Leases(t.Context(), "", client.Page{Limit: 1, Cursor: *first.NextCursor})
	if err != nil || len(next.Items) != 1 || next.NextCursor != nil {
		t.Fatalf("got %+v, %v", next, err)
	}
	if o := next.Items[0]; o.ProjectID != "shop" || o.Status != "ready" || o.Data != api.DataOwnerDataLive || o.Node != "a" || o.Session != "1" || !o.ThisServer || o.Epoch != 3 || !o.TakenOver || o.ChangedAt.IsZero() {
		t.Errorf("got %+v", o)
	}
	if of, err := c.Leases(t.Context(), "shop", client.Page{}); err != nil || len(of.Items) != 1 || of.Items[0].ProjectID != "shop" {
		t.Errorf("of one project: %+v, %v", of, err)
	}
	const path = "/v1/server/leases"
	for query, code := range map[string]string{"?limit=0": "invalid_limit", "?cursor=x": "invalid_cursor", "?project=shop&cursor=" + *first.NextCursor: "invalid_cursor", "?node=a": "unknown_parameter"} {
		h.do(request{method: "GET", path: path + query, outside: true}).wantProblem(400, code)
	}
	h.do(request{method: "GET", path: path, token: deployToken}).wantProblem(403, "forbidden")
	h.fakes.fail(svc.Errorf(svc.Unavailable, svc.CodeDataUnavailable, "the object store does not answer"))
	h.do(request{method: "GET", path: path}).wantProblem(503, "data_unavailable")
}

// TestServerLog: the server's own log, as a page, after a cursor, and while it is written.
func TestServerLog(t *testing.T) {
	t.Parallel()
	recent := obs.NewRecent(map[string]string{"SVC_ADMIN_TOKEN": adminToken})
	log := recent.Logger(obs.NewLogger(io.Discard, obs.LogOptions{}))
	h := start(t, func(d *httpapi.Deps) { d.ServerLog = recent })
	log.Info("server started", "version", "v0-test")
	log.Warn("janitor failed; retrying", "error", "the header was "+adminToken)
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	page, err := c.ReadServerLog(t.Context(), client.LogQuery{})
	if err != nil || len(page.Items) != 2 || page.Items[0].Message != "server started version=v0-test" || page.Items[0].Source != "server" || page.NextCursor == "" {
		t.Fatalf("got %+v, %v", page, err)
	}
	if l := page.Items[1]; l.Level != "warn" || l.Message != `janitor failed; retrying error="the header was ***SVC_ADMIN_TOKEN***"` {
		t.Errorf("got %+v", l)
	}
	if got, err := c.ReadServerLog(t.Context(), client.LogQuery{Level: "warn", Search: "JANITOR", Tail: 5}); err != nil || len(got.Items) != 1 {
		t.Errorf("filtered: %+v, %v", got, err)
	}
	log.Info("line")
	seen := 0
	for l, err := range c.FollowServerLog(t.Context(), client.LogQuery{Cursor: page.NextCursor, Search: "line"}) {
		if err != nil || l.Message != "line" {
			t.Fatalf("got %+v, %v", l, err)
		}
		if seen++; seen == 2 {
			break
		}
		log.Info("another")
		log.Info("line")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	kind, lines := h.stream(ctx, "/v1/server/log?follow=true", http.Header{"Accept": {"text/event-stream"}, "Last-Event-Id": {page.Items[0].Cursor}})
	if first, event, data := <-lines, <-lines, <-lines; kind != "text/event-stream" || first != "id: "+page.Items[1].Cursor || event != "event: log" || !strings.Contains(data, "janitor failed") {
		t.Errorf("%s, %s, %s, %s", kind, first, event, data)
	}
	for query, code := range map[string]string{"?tail=0": "invalid_tail", "?level=loud": "invalid_parameter", "?since=soon": "invalid_parameter", "?cursor=x": "invalid_cursor", "?status=500": "unknown_parameter"} {
		h.do(request{method: "GET", path: "/v1/server/log" + query, outside: true}).wantProblem(400, code)
	}
	h.do(request{method: "GET", path: "/v1/server/log", token: deployToken}).wantProblem(403, "forbidden")
}
