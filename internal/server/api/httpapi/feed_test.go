package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// TestEvents: pages with one cursor, their filters, and what is refused.
func TestEvents(t *testing.T) {
	t.Parallel()
	h := start(t)
	read := func(query string) api.EventPage {
		t.Helper()
		return decode[api.EventPage](h.do(request{method: "GET", path: "/v1/events" + query}).want(200))
	}
	begin := read("")
	h.project("shop")
	h.project("other")
	h.ready("shop", "v-1")
	page := read("?limit=2&types=project&cursor=" + begin.NextCursor)
	if len(page.Items) != 2 || page.Items[0].Type != "project.created" || page.Items[1].ProjectID != "other" {
		t.Fatalf("got %+v", page)
	}
	page = read("?types=version.status,promotion&project=shop&cursor=" + page.NextCursor + "&wait=10s")
	if n := len(page.Items); n != 5 || page.Items[4].Data != (api.EventData{Status: "ready", Previous: "deploying"}) || page.Items[4].VersionID != "v-1" {
		t.Errorf("got %+v", page)
	}
	if page = read("?tail=1&types=queue"); len(page.Items) != 1 || page.Items[0].Data.Depth == nil || *page.Items[0].Data.Depth != 1 {
		t.Errorf("got %+v", page)
	}
	for query, code := range map[string]string{
		"?cursor=x": "invalid_cursor", "?wait=2m": "invalid_parameter", "?wait=soon": "invalid_parameter", "?wait=65535d2000000h": "invalid_parameter", "?tail=0": "invalid_tail", "?since=1": "unknown_parameter",
	} {
		h.do(request{method: "GET", path: "/v1/events" + query, outside: true}).wantProblem(400, code)
	}
	h.do(request{method: "GET", path: "/v1/events?cursor=999999"}).wantProblem(410, "cursor_expired")
	h.do(request{method: "GET", path: "/v1/events", token: deployToken}).wantProblem(403, "forbidden")
}

// TestEventsAsStream: the ids of server-sent events continue a stream.
func TestEventsAsStream(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	kind, lines := h.stream(ctx, "/v1/events", http.Header{"Accept": {"text/event-stream"}, "Last-Event-Id": {"0"}})
	if kind != "text/event-stream" || <-lines != "id: 0" || <-lines != ":" || <-lines != "id: 1" || <-lines != "event: project.created" || !strings.Contains(<-lines, `"project_id":"shop"`) {
		t.Errorf("got %s", kind)
	}
	cancel()
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range c.FollowEvents(t.Context(), client.EventQuery{Types: []string{"version.pinned"}}) {
		if err != nil {
			t.Fatal(err)
		}
		if b.Event == nil { // the stream has begun
			h.version("shop", "v-1")
			if _, err := h.db.SetPinned(t.Context(), svc.Ref{Project: "shop", Version: "v-1"}, true); err != nil {
				t.Fatal(err)
			}
		} else if b.Event.VersionID == "v-1" && b.Event.Type == "version.pinned" {
			break
		}
	}
	page, err := c.ReadEvents(t.Context(), client.EventQuery{Tail: 1, Types: []string{"version"}})
	if err != nil || len(page.Items) != 1 || page.Items[0].Type != "version.pinned" {
		t.Errorf("got %+v, %v", page, err)
	}
	for _, err := range c.FollowEvents(t.Context(), client.EventQuery{Cursor: "999999"}) {
		var e *client.Error
		if !errors.As(err, &e) || e.Problem.Code != "cursor_expired" {
			t.Errorf("got %v", err)
		}
	}
}
