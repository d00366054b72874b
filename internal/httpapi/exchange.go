package httpapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"time"
)

// exchange is what is known about one request while it is served. Only the
// goroutine of the request touches it.
type exchange struct {
	id     string // request id [D14]
	origin string // scheme and host for generated URLs of the API
	route  string // path pattern; "" until one matched
	role   role   // of the token
	begun  time.Time
}

type exchangeKey struct{}

// exchangeOf finds the request's exchange; handlers of a Server always have one.
func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return &exchange{}
}

var requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// ServeHTTP serves one request of the API port.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{id: r.Header.Get("X-Request-Id"), origin: s.origin(r), begun: time.Now()}
	if !requestIDPattern.MatchString(x.id) {
		x.id = rand.Text()
	}
	header := w.Header()
	header.Set("X-Request-Id", x.id)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	rec := &recorder{ResponseWriter: w}
	defer s.finish(rec, r, x)
	defer s.rescue(rec, r)
	s.dispatch(rec, r)
}

// origin is how the client reached the API.
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

// rescue turns a panic of a handler into a 500, or cuts the connection when an
// answer has begun.
func (s *Server) rescue(rec *recorder, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // a value recovered from a panic
		panic(p)
	}
	s.Logger.ErrorContext(r.Context(), "a handler panicked", "request_id", exchangeOf(r.Context()).id,
		"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	if rec.status != 0 {
		panic(http.ErrAbortHandler)
	}
	s.write(rec, r, internalProblem())
}

// finish logs and counts a request. Reads that went well are logged at debug:
// clients poll. The path itself is not logged, because an upload's path holds
// its ticket.
func (s *Server) finish(rec *recorder, r *http.Request, x *exchange) {
	status := rec.status
	if status == 0 {
		status = http.StatusOK
	}
	route := x.route
	if route == "" {
		route = "unmatched"
	}
	method := knownMethod(r.Method)
	s.Observer.HTTPRequest(route, method, status)
	level := slog.LevelInfo
	if (method == http.MethodGet || method == http.MethodHead) && status < http.StatusBadRequest {
		level = slog.LevelDebug
	}
	s.Logger.Log(r.Context(), level, "request served",
		"request_id", x.id, "method", method, "route", route, "status", status, "bytes", rec.bytes,
		"duration_ms", time.Since(x.begun).Milliseconds(), "role", string(x.role),
		"project", r.PathValue("project"), "version", r.PathValue("version"), "remote", r.RemoteAddr)
}

// knownMethod bounds what may become a label.
func knownMethod(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return "other"
}

// recorder remembers what was answered.
type recorder struct {
	http.ResponseWriter
	status int // 0 until the header is written
	bytes  int64
}

func (rec *recorder) WriteHeader(status int) {
	if rec.status == 0 {
		rec.status = status
	}
	rec.ResponseWriter.WriteHeader(status)
}

func (rec *recorder) Write(p []byte) (int, error) {
	if rec.status == 0 {
		rec.status = http.StatusOK
	}
	n, err := rec.ResponseWriter.Write(p)
	rec.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }
