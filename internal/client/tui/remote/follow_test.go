package remote_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/client/tui/remote"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/pkg/client"
)

// TestSilentServer: a server that keeps the connection open and sends nothing is away, since the last
// time that it sent something; and back when it continues.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) > 1 && r.URL.Query().Get("cursor") != "6" {
			t.Errorf("continues at %q", r.URL.Query().Get("cursor"))
		}
		w.Header().Set("Svc-Heartbeat", "40ms")
		_, _ = fmt.Fprint(w, "id: 6\n:\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, client.Tokens{Admin: "token"}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := remote.Open(t.Context(), c)
	t.Cleanup(r.Close)
	var links []state.Link
	for len(links) < 3 {
		list, ok := r.Next()().(remote.Batch)
		if !ok {
			t.Fatal("the stream ended")
		}
		for _, msg := range list {
			if l, ok := msg.(state.Link); ok {
				links = append(links, l)
			}
		}
	}
	if !links[0].Up || links[1].Up || links[1].Err == nil || !links[2].Up || links[2].Resync {
		t.Errorf("got %+v", links)
	}
	if d := links[1].At.Sub(links[0].At); d < 0 || d > 40*time.Millisecond {
		t.Errorf("away since %s after the last sign of life", d)
	}
}

// TestReconnects: the stream continues after its last event when it breaks, and says
// that events are missing when the server no longer has them.
func TestReconnects(t *testing.T) {
	t.Parallel()
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		event := func(id int) {
			_, _ = fmt.Fprintf(w, "id: %d\nevent: version.status\ndata: {\"id\":%d,\"type\":\"version.status\",\"data\":{}}\n\n", id, id)
		}
		switch at := r.URL.Query().Get("cursor"); {
		case calls == 1 && at == "":
			_, _ = fmt.Fprint(w, "id: 6\n:\n\n")
			event(7)
		case calls == 2 && at == "7":
			event(8)
		case calls == 3 && at == "8":
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusGone)
			_, _ = fmt.Fprint(w, `{"code":"cursor_expired","status":410,"title":"t","request_id":"r"}`)
		case calls == 4 && at == "":
			_, _ = fmt.Fprint(w, "id: 90\n:\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		default:
			t.Errorf("call %d with cursor %q", calls, at)
		}
	}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, client.Tokens{Admin: "token"}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := remote.Open(t.Context(), c)
	t.Cleanup(r.Close)
	var got []string
	for {
		list, ok := r.Next()().(remote.Batch)
		if !ok {
			t.Fatal("the stream ended")
		}
		for _, msg := range list {
			switch msg := msg.(type) {
			case state.Events:
				got = append(got, fmt.Sprint(msg.List[0].ID))
			case state.Link:
				got = append(got, map[bool]string{true: "up", false: "down"}[msg.Up]+map[bool]string{true: " missed", false: ""}[msg.Resync])
			}
		}
		if len(got) == 7 {
			break
		}
	}
	if text := strings.Join(got, ", "); text != "up, 7, down, up, 8, down, up missed" {
		t.Errorf("got %s", text)
	}
}
