package remote_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/tui/remote"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/pkg/client"
)

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
