package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/pkg/client"
)

// slowReader is how long a write to a browser may take.
const slowReader = 10 * time.Second

// events answers GET /-/events with GET /v1/events, as the token of the session sees it.
func (d *Dashboard) events(c *call) error {
	q := client.EventQuery{Cursor: c.r.URL.Query().Get("cursor"), Project: c.r.URL.Query().Get("project")}
	if last := c.r.Header.Get("Last-Event-ID"); last != "" {
		q.Cursor = last
	}
	out := newStream(c.w)
	ctx, cancel := context.WithDeadline(c.r.Context(), c.session.expiry)
	defer cancel()
	for beat, err := range c.api.FollowEvents(ctx, q) {
		if err != nil {
			return out.end(err)
		}
		var told change
		if e := beat.Event; e != nil {
			told = change{e.Type, e.ProjectID, e.VersionID}
		}
		err = out.sendJSON(beat.Cursor, told)
		if err != nil {
			return out.end(err)
		}
	}
	return nil
}

// change is what the script needs of an event.
type change struct {
	Type    string `json:"type"`
	Project string `json:"project"`
	Version string `json:"version"`
}

// stream is a response of server-sent events.
type stream struct {
	w     http.ResponseWriter
	out   *http.ResponseController
	begun bool
}

func newStream(w http.ResponseWriter) *stream {
	return &stream{w: w, out: http.NewResponseController(w)}
}

// begin writes the header.
func (s *stream) begin() error {
	s.begun = true
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.WriteHeader(http.StatusOK)
	return s.out.Flush()
}

// send writes one event. data has one line.
func (s *stream) send(id string, data []byte) error {
	if !s.begun {
		if err := s.begin(); err != nil {
			return err
		}
	}
	_ = s.out.SetWriteDeadline(time.Now().Add(slowReader)) // a server without deadlines has its own limit for slow clients
	if _, err := fmt.Fprintf(s.w, "id: %s\ndata: %s\n\n", id, data); err != nil {
		return fmt.Errorf("following: %w", err)
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("following: %w", err)
	}
	return nil
}

// end returns an error that can still become the answer.
func (s *stream) end(err error) error {
	if s.begun {
		return nil // the browser connects again
	}
	return err
}
