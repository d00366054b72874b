package httpapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// exchange is the state of one request. Only the goroutine of the request uses it.
type exchange struct {
	id     string // request id [D14]
	origin string // scheme and host for generated URLs of the API
	route  string // path pattern; "" until one matched
	role   role   // of the token
	token  string // by which the request is allowed; a secret
	actor  svc.AuditActor
	// identity is set for GET /whoami.
	identity identity
	changes  changes // for the audit record
	began    time.Time

	events      bool   // the client takes server-sent events
	lastEventID string // with which it continues them
}

type exchangeKey struct{}

// exchangeOf returns the request's exchange; handlers of a Server always have one.
func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return &exchange{}
}

var requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// ServeHTTP serves one request of the API port.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{
		id: r.Header.Get("X-Request-Id"), origin: s.origin(r), began: time.Now(),
		events: wantsEvents(r), lastEventID: r.Header.Get("Last-Event-ID"),
	}
	if !requestIDPattern.MatchString(x.id) {
		x.id = rand.Text()
	}
	header := w.Header()
	header.Set("X-Request-Id", x.id)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	rec := &recorder{ResponseWriter: w, r: r}
	defer s.finish(rec, r, x)
	defer s.rescue(rec, r)
	if err := s.checkHost(r); err != nil {
		s.fail(rec, r, err)
		return
	}
	if s.Pages != nil && s.Pages.Serves(r) {
		x.route = "dashboard"
		s.Pages.ServeHTTP(rec, r)
		return
	}
	s.dispatch(rec, r)
}

// origin returns scheme and host by which the client reached the API.
func (s *Server) origin(r *http.Request) string {
	if s.PublicURL != "" {
		return s.PublicURL
	}
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// rescue turns a panic of a handler into a 500, or aborts the connection if the
// response has begun.
func (s *Server) rescue(rec *recorder, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // a value recovered from a panic
		panic(p)
	}
	s.Logger.ErrorContext(r.Context(), "handler panicked", "request_id", exchangeOf(r.Context()).id,
		"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	if rec.status != 0 {
		panic(http.ErrAbortHandler)
	}
	s.write(rec, r, internalProblem())
}

// finish logs and counts a request. Successful reads are logged at debug, because
// clients poll. The path is not logged, because an upload's path holds a ticket.
func (s *Server) finish(rec *recorder, r *http.Request, x *exchange) {
	status := rec.status
	status = cmp.Or(status, http.StatusOK)
	route := x.route
	route = cmp.Or(route, "unmatched")
	method := knownMethod(r.Method)
	s.Observer.HTTPRequest(route, method, status)
	level := slog.LevelInfo
	if (method == http.MethodGet || method == http.MethodHead) && status < http.StatusBadRequest {
		level = slog.LevelDebug
	}
	s.Logger.Log(r.Context(), level, "request served",
		"request_id", x.id, "method", method, "route", route, "status", status, "bytes", rec.bytes,
		"duration", time.Since(x.began), "role", string(x.role), "token", x.actor.Token,
		"project", r.PathValue("project"), "version", r.PathValue("version"), "remote", r.RemoteAddr)
}

// knownMethod bounds the number of metric labels.
func knownMethod(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return "other"
}

// recorder records status and size of a response.
type recorder struct {
	http.ResponseWriter
	r      *http.Request
	status int // 0 until the header is written
	bytes  int64
}

func (rec *recorder) WriteHeader(status int) {
	if status == http.StatusOK && unchanged(rec.r, rec.Header()) {
		status = http.StatusNotModified
		rec.Header().Del("Content-Type")
	}
	rec.status = cmp.Or(rec.status, status)
	rec.ResponseWriter.WriteHeader(status)
}

func (rec *recorder) Write(p []byte) (int, error) {
	rec.status = cmp.Or(rec.status, http.StatusOK)
	if rec.status == http.StatusNotModified {
		return len(p), nil // it has no body
	}
	n, err := rec.ResponseWriter.Write(p)
	rec.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }
