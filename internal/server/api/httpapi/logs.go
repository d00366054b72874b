package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// logParameters are the parameters of a log.
//
//nolint:gochecknoglobals // a constant list
var logParameters = []string{"tail", "cursor", "since", "level", "status", "path", "request", "search", "follow"}

// serverLogParameters are the parameters of the server's own log.
//
//nolint:gochecknoglobals // a constant list
var serverLogParameters = []string{"tail", "cursor", "since", "level", "search", "follow"}

// heartbeat is how often a follower without new entries gets a sign of life, which also
// finds out that it is gone.
const heartbeat = 15 * time.Second

// ListLogs answers GET /projects/{project}/versions/{version}/logs.
func (h handlers) ListLogs(ctx context.Context, r oas.ListLogsRequestObject) (oas.ListLogsResponseObject, error) {
	target := func(ctx context.Context) (svc.Ref, error) {
		return h.logged(ctx, svc.Ref{Project: r.Project, Version: r.Version})
	}
	return h.logs(ctx, h.Logs, target, r.Params)
}

// ListProjectLogs answers GET /projects/{project}/logs.
func (h handlers) ListProjectLogs(ctx context.Context, r oas.ListProjectLogsRequestObject) (oas.ListProjectLogsResponseObject, error) {
	target := func(ctx context.Context) (svc.Ref, error) {
		p, err := h.Projects.Project(ctx, r.Project)
		if err == nil && p.ProdVersionID == "" {
			err = svc.Errorf(svc.NotFound, svc.CodeVersionNotFound, "project %s has no production version", r.Project).
				WithHint("promote a version, or read the log of a version")
		}
		return svc.Ref{Project: r.Project, Version: p.ProdVersionID}, err
	}
	return h.logs(ctx, h.Logs, target, api.ListLogsParams(r.Params))
}

// ListServerLog answers GET /server/log.
func (h handlers) ListServerLog(ctx context.Context, r oas.ListServerLogRequestObject) (oas.ListServerLogResponseObject, error) {
	p := r.Params
	target := func(context.Context) (svc.Ref, error) { return svc.Ref{}, nil }
	return h.logs(ctx, h.ServerLog, target, api.ListLogsParams{Tail: p.Tail, Cursor: p.Cursor, Since: p.Since, Level: p.Level, Search: p.Search, Follow: p.Follow})
}

// logged returns ref unless its log is deleted [D22].
func (h handlers) logged(ctx context.Context, ref svc.Ref) (svc.Ref, error) {
	v, err := h.Versions.Version(ctx, ref)
	if err == nil && v.Status == svc.StatusDestroyed {
		err = svc.Errorf(svc.Gone, svc.CodeVersionDestroyed, "version %s was destroyed", ref)
	}
	return ref, err
}

// logs returns a page of a log, or the response that follows.
func (handlers) logs(ctx context.Context, log Logs, target func(context.Context) (svc.Ref, error), p api.ListLogsParams) (*logResponse, error) {
	x := exchangeOf(ctx)
	q, err := logQuery(p, x.lastEventID)
	if err != nil {
		return nil, err
	}
	ref, err := target(ctx)
	if err != nil {
		return nil, err
	}
	if p.Follow {
		q2 := q
		q2.Tail = 1
		if _, err := log.Read(ctx, ref, q2); err != nil { // a bad query is refused before the response begins
			return nil, err
		}
		return &logResponse{ctx: ctx, log: log, q: q, target: target, events: x.events}, nil
	}
	page, err := log.Read(ctx, ref, q)
	if err != nil {
		return nil, err
	}
	return &logResponse{page: api.LogLines{Items: each(page.Entries, logEntry), NextCursor: page.Cursor}}, nil
}

// logQuery reads the parameters.
func logQuery(p api.ListLogsParams, lastEventID string) (svc.LogQuery, error) {
	q := svc.LogQuery{
		Level: p.Level, Status: p.Status, Path: p.Path, RequestID: p.Request, Search: p.Search,
		Cursor: p.Cursor, Tail: defaultTail,
	}
	if lastEventID != "" {
		q.Cursor = lastEventID
	}
	if p.Tail != nil {
		q.Tail = *p.Tail
	}
	var err error
	q.Since, err = sinceOf(p.Since, time.Now())
	return q, err
}

func logEntry(e svc.LogEntry) api.LogLine {
	out := logLine(e.LogLine)
	out.VersionID, out.Cursor = e.Version, e.Cursor
	return out
}

func logLine(l svc.LogLine) api.LogLine {
	out := api.LogLine{Time: api.At(l.Time), Level: l.Level, Message: l.Message, Source: l.Source, RequestID: l.RequestID}
	if i := l.Invocation; i != nil {
		out.Invocation = &api.Invocation{
			Kind: i.Kind, Method: i.Method, Path: i.Path, Status: i.Status, Outcome: i.Outcome, Error: i.Error, Role: string(i.Role),
			ClientRequestID: i.ClientID, Detail: i.Detail, DurationMs: float64(i.Duration.Microseconds()) / 1000,
		}
	}
	return out
}

// logResponse is a page of a log, or a stream of entries.
type logResponse struct {
	page   api.LogLines
	ctx    context.Context //nolint:containedctx // of the request that it answers
	log    Logs
	q      svc.LogQuery
	target func(context.Context) (svc.Ref, error) // nil for a page
	events bool
}

// VisitListLogsResponse implements oas.ListLogsResponseObject.
func (l *logResponse) VisitListLogsResponse(w http.ResponseWriter) error {
	if l.target == nil {
		return oas.ListLogs200JSONResponse{LogJSONResponse: oas.LogJSONResponse(l.page)}.VisitListLogsResponse(w)
	}
	return l.stream(w)
}

// VisitListProjectLogsResponse implements oas.ListProjectLogsResponseObject.
func (l *logResponse) VisitListProjectLogsResponse(w http.ResponseWriter) error {
	return l.VisitListLogsResponse(w)
}

// VisitListServerLogResponse implements oas.ListServerLogResponseObject.
func (l *logResponse) VisitListServerLogResponse(w http.ResponseWriter) error {
	return l.VisitListLogsResponse(w)
}

// stream writes entries until the client leaves or the log ends.
func (l *logResponse) stream(w http.ResponseWriter) error {
	kind := "application/jsonl"
	if l.events {
		kind = "text/event-stream"
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("following a log: %w", err)
	}
	written, waiting := time.Now(), false
	return l.log.Follow(l.ctx, l.target, l.q, func(e svc.LogEntry) error {
		waiting = true
		return l.writeEntry(w, e)
	}, func() error {
		if quiet := time.Since(written) > heartbeat; quiet && !waiting {
			waiting = true
			if _, err := w.Write(l.heartbeat()); err != nil {
				return err
			}
		}
		if !waiting {
			return nil
		}
		written, waiting = time.Now(), false
		return out.Flush()
	})
}

// heartbeat is what readers of each format skip: a comment, or an empty line.
func (l *logResponse) heartbeat() []byte {
	if l.events {
		return []byte(":\n\n")
	}
	return []byte("\n")
}

func (l *logResponse) writeEntry(w http.ResponseWriter, e svc.LogEntry) error {
	data, err := json.Marshal(logEntry(e))
	if err != nil {
		return fmt.Errorf("encoding a log entry: %w", err)
	}
	if l.events {
		_, err = fmt.Fprintf(w, "id: %s\nevent: log\ndata: %s\n\n", e.Cursor, data)
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// wantsEvents reports whether a request asks for server-sent events.
func wantsEvents(r *http.Request) bool {
	return strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/event-stream")
}
