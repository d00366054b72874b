package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

const (
	maxWait     = time.Minute
	slowReader  = 10 * time.Second // how long a write to a follower may take
	maxFeedTail = maxTail

	// feedBeat is how often a follower of the events gets a sign of life. A client that missed two
	// of them shows within 5 seconds that the server hangs.
	feedBeat = 2 * time.Second
)

// feedParameters are the parameters of the events.
//
//nolint:gochecknoglobals // a constant list
var feedParameters = []string{"cursor", "tail", "wait", "project", "types", "limit"}

// ListEvents answers GET /events.
func (h handlers) ListEvents(ctx context.Context, r oas.ListEventsRequestObject) (oas.ListEventsResponseObject, error) {
	x := exchangeOf(ctx)
	q, err := feedQuery(r.Params, x.lastEventID)
	if err != nil {
		return nil, err
	}
	if x.events {
		first := q
		first.Wait, first.Limit = 0, 1
		if _, err := h.Feed.Read(ctx, first); err != nil { // a bad query is refused before the response begins
			return nil, err
		}
		q.Limit = 0
		return feedStream{ctx: ctx, h: h, q: q}, nil
	}
	page, err := h.Feed.Read(ctx, q)
	if err != nil {
		return nil, err
	}
	return oas.ListEvents200JSONResponse{Items: each(page.Events, eventOut), NextCursor: page.Cursor}, nil
}

// feedQuery reads the parameters.
func feedQuery(p api.ListEventsParams, lastEventID string) (svc.FeedQuery, error) {
	q := svc.FeedQuery{Cursor: p.Cursor, Project: p.Project, Limit: defaultLimit}
	if lastEventID != "" {
		q.Cursor = lastEventID
	}
	if p.Tail != nil {
		q.Tail = min(*p.Tail, maxFeedTail)
	}
	if p.Limit != nil {
		q.Limit = *p.Limit
	}
	if p.Types != "" {
		q.Types = strings.Split(p.Types, ",")
	}
	if p.Wait == "" {
		return q, nil
	}
	d, err := text.Duration(p.Wait)
	if err != nil || d > maxWait {
		return q, svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "the parameter wait must be a duration such as 30s, at most 60s")
	}
	q.Wait = d
	return q, nil
}

func eventOut(e svc.FeedEvent) api.Event {
	d := e.Data
	return api.Event{
		ID: e.ID, Type: e.Type, Time: api.At(e.Time), ProjectID: e.Project, VersionID: e.Version,
		Data: api.EventData{
			Status: d.Status, Previous: d.Previous, Step: d.Step, StepStatus: d.StepState, Detail: d.Detail, Error: d.Error,
			OperationID: d.Operation, GitRef: d.GitRef, Depth: d.Depth, Restarts: d.Restarts,
			Action: d.Action, Actor: d.Actor,
		},
	}
}

// feedStream is a response of server-sent events.
type feedStream struct {
	ctx context.Context //nolint:containedctx // of the request that it answers
	h   handlers
	q   svc.FeedQuery
}

// VisitListEventsResponse implements oas.ListEventsResponseObject.
func (f feedStream) VisitListEventsResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Svc-Heartbeat", feedBeat.String())
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)
	return f.h.Feed.Follow(f.ctx, f.q, feedBeat, func(page svc.FeedPage) error {
		text, err := eventText(page)
		if err != nil {
			return err
		}
		// A server whose connections have no deadlines has its own limit for slow clients.
		_ = out.SetWriteDeadline(time.Now().Add(slowReader))
		if _, err := w.Write(text); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return fmt.Errorf("following events: %w", err)
		}
		return nil
	})
}

// eventText returns the events of a page, or a heartbeat that moves the id.
func eventText(page svc.FeedPage) ([]byte, error) {
	var b []byte
	for _, e := range page.Events {
		data, err := json.Marshal(eventOut(e))
		if err != nil {
			return nil, fmt.Errorf("encoding an event: %w", err)
		}
		b = fmt.Appendf(b, "id: %d\nevent: %s\ndata: %s\n\n", e.ID, e.Type, data)
	}
	if len(page.Events) == 0 {
		b = fmt.Appendf(b, "id: %s\n:\n\n", page.Cursor)
	}
	return b, nil
}
