package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/svc"
)

// endlessFeed has one event after the other, until a follower fails.
type endlessFeed struct {
	idle  time.Duration
	ended error
}

func (*endlessFeed) Read(context.Context, svc.FeedQuery) (svc.FeedPage, error) {
	return svc.FeedPage{Cursor: "7"}, nil
}

func (f *endlessFeed) Follow(_ context.Context, _ svc.FeedQuery, idle time.Duration, emit func(svc.FeedPage) error) error {
	f.idle, f.ended = idle, emit(svc.FeedPage{Cursor: "7"})
	for id := int64(8); f.ended == nil; id++ {
		f.ended = emit(svc.FeedPage{Events: []svc.FeedEvent{{ID: id, Type: "version.pinned"}}, Cursor: "x"})
	}
	return f.ended
}

// stuckClient takes some writes, and then none within the deadline.
type stuckClient struct {
	*httptest.ResponseRecorder

	takes    int
	deadline time.Time
}

func (c *stuckClient) SetWriteDeadline(at time.Time) error {
	c.deadline = at
	return nil
}

func (c *stuckClient) Write(p []byte) (int, error) {
	if c.takes--; c.takes < 0 {
		return 0, os.ErrDeadlineExceeded
	}
	return c.ResponseRecorder.Write(p)
}

// TestSlowFollower: a client of events that does not read is cut off, and can continue after the last event
// that it got. Nothing is kept for it.
func TestSlowFollower(t *testing.T) {
	t.Parallel()
	feed := &endlessFeed{}
	h := start(t, func(d *httpapi.Deps) { d.Feed = feed })
	client := &stuckClient{ResponseRecorder: httptest.NewRecorder(), takes: 3}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/v1/events", nil)
	r.Header = http.Header{"Accept": {"text/event-stream"}, "Authorization": {"Bearer " + adminToken}}
	began := time.Now()
	h.server.ServeHTTP(client, r)
	if feed.ended == nil || feed.idle <= 0 || feed.idle > 30*time.Second {
		t.Errorf("ended by %v, a sign of life each %s", feed.ended, feed.idle)
	}
	if d := client.deadline.Sub(began); d < time.Second || d > time.Minute {
		t.Errorf("a write may take %s", d)
	}
	text := client.Body.String()
	if !strings.HasPrefix(text, "id: 7\n:\n\nid: 8\nevent: version.pinned\n") || !strings.Contains(text, "id: 9\n") || strings.Contains(text, "id: 10") {
		t.Errorf("got %q", text)
	}
}
