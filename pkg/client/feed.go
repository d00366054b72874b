package client

import (
	"bufio"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

// EventQuery selects events. The zero value selects all that happen from now on.
type EventQuery struct {
	Cursor  string        // continue after this position; "" for the present one
	Tail    int           // without a cursor, begin with the last events, at most this number
	Wait    time.Duration // ReadEvents: how long a page without events waits for one; at most a minute
	Project string        // only this project
	Types   []string      // only these types; "version" stands for all that begin with "version."
	Limit   int           // ReadEvents: maximum number of events; 0 for the service's default
}

func (q EventQuery) params() api.ListEventsParams {
	p := api.ListEventsParams{
		Cursor: q.Cursor, Tail: or(q.Tail), Project: q.Project, Types: strings.Join(q.Types, ","), Limit: or(q.Limit),
	}
	if q.Wait > 0 {
		p.Wait = q.Wait.String()
	}
	return p
}

// ReadEvents returns a page of what happened on the server, oldest first. Without a
// cursor and a tail it returns no events, and the position to continue at: read it
// before the lists that the events are to keep up to date.
//
// Codes: invalid_cursor, invalid_tail, cursor_expired.
func (c *Client) ReadEvents(ctx context.Context, q EventQuery) (api.EventPage, error) {
	events := get("/events").with(q.params())
	if q.Wait > 0 {
		events = events.untimed()
	}
	return ask[api.EventPage](ctx, c, events)
}

// A Beat is an event of the stream, or a sign of life without one.
type Beat struct {
	Event  *api.Event    // nil for a sign of life
	Cursor string        // position to continue at
	Every  time.Duration // how often the server sends a sign of life; 0 if it does not say
}

// FollowEvents yields what happens on the server, and a sign of life first and then every
// Beat.Every (15 seconds if the server does not say). It ends with ctx, with an error, or when the service stops or cuts the client
// off because it reads too slowly: continue with the last cursor.
//
// Codes: invalid_cursor, invalid_tail, cursor_expired.
func (c *Client) FollowEvents(ctx context.Context, q EventQuery) iter.Seq2[Beat, error] {
	return func(yield func(Beat, error) bool) {
		resp, err := c.stream(ctx, get("/events").with(q.params()).edited(asEvents))
		if err != nil {
			yield(Beat{}, err)
			return
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, maxAnswer)
		var b Beat
		b.Every, _ = time.ParseDuration(resp.Header.Get("Svc-Heartbeat")) // an older server has no such header
		for lines.Scan() {
			field, value, _ := strings.Cut(lines.Text(), ": ")
			switch field {
			case "id":
				b.Cursor = value
			case "data":
				b.Event = &api.Event{}
				if err := json.Unmarshal([]byte(value), b.Event); err != nil {
					yield(b, unexpected(err))
					return
				}
			case "":
				if !yield(b, nil) {
					return
				}
				b.Event = nil
			}
		}
		if err := lines.Err(); err != nil {
			yield(b, transportError(err))
		}
	}
}

// asEvents asks for server-sent events.
func asEvents(req *http.Request) {
	req.Header.Set("Accept", "text/event-stream, application/problem+json")
}
