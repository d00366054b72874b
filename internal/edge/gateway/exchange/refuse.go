package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"html"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/route"
	"github.com/svcctl/svcctl/internal/edge/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

// problem is an RFC 9457 problem document [D5] [D44].
type problem struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	Instance  string `json:"instance,omitempty"`
	Code      string `json:"code"`
	Hint      string `json:"hint,omitempty"`
	RequestID string `json:"request_id"`
}

// Unreadable makes x a request without a head, for a refusal.
func (x *Request) Unreadable() {
	x.makeIDs()
	x.Req = http1.Request{Fields: http1.Fields{List: x.Req.List[:0]}, Minor: 1} // the one before may be of another client
}

// Refusal makes err the result of x, and returns the error for the client.
func (s *Service) Refusal(ctx context.Context, x *Request, err error) *svc.Error {
	e := asAnswer(err)
	log := func() *slog.Logger {
		ref := x.Claim.Ref()
		return s.cfg.Logger.With("project", ref.Project, "version", ref.Version, "request_id", string(x.meta.id), "error", e.Err)
	}
	switch {
	case e.Err != nil && e.Code == svc.CodeRuntimeUnavailable:
		log().WarnContext(ctx, "runtime did not answer")
	case e.Code == svc.CodeAssetUnreadable:
		log().WarnContext(ctx, "static asset is not readable")
	}
	x.Status, x.ErrCode = statusOf(e), e.Code
	return e
}

// asAnswer returns the error for the client.
func asAnswer(err error) *svc.Error {
	var e *svc.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, route.ErrClosing):
		return route.ErrHeld()
	default:
		return ErrBroken(err)
	}
}

// AppendRefusal appends the whole response for e, as a problem document or as a page [D44].
func (x *Request) AppendRefusal(b []byte, e *svc.Error, keep bool) []byte {
	path, _, _ := bytes.Cut(x.path(), []byte{'?'})
	p := problem{
		Type: "urn:svcctl:problem:" + e.Code, Title: title(e.Code), Status: x.Status, Detail: e.Detail,
		Instance: string(path), Code: e.Code, Hint: e.Hint, RequestID: string(x.meta.id),
	}
	kind, body := "application/problem+json", p.json()
	if bytes.Contains(x.meta.accept, []byte("text/html")) {
		kind, body = "text/html; charset=utf-8", p.html()
	}
	b = append(strconv.AppendInt(append(b, "HTTP/1.1 "...), int64(x.Status), 10), ' ')
	b = append(append(b, http.StatusText(x.Status)...), "\r\nContent-Type: "...)
	b = append(append(b, kind...), "\r\nContent-Length: "...)
	b = append(strconv.AppendInt(b, int64(len(body)), 10), "\r\nCache-Control: no-store\r\nSvc-Error: "...)
	b = append(append(b, e.Code...), "\r\nX-Request-Id: "...)
	b = append(append(b, x.meta.id...), '\r', '\n')
	if x.Hints.Doctor {
		b = append(append(b, svc.SeenHeader+": "+x.meta.seen...), '\r', '\n')
	}
	if e.RetryAfter > 0 {
		seconds := int64((e.RetryAfter + time.Second - 1) / time.Second)
		b = append(strconv.AppendInt(append(b, "Retry-After: "...), seconds, 10), '\r', '\n')
	}
	if moved, ok := errors.AsType[*route.Redirect](e.Err); ok {
		b = x.appendLocation(b, moved.Host)
	}
	if x.Status == http.StatusMethodNotAllowed {
		b = append(b, "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n"...)
	}
	if x.Claim.Selector {
		b = append(b, deprecation...)
	}
	b = append(appendConnection(b, &x.Req, keep), '\r', '\n')
	if string(x.Req.Method) == http.MethodHead {
		return b
	}
	x.Sent = int64(len(body))
	return append(b, body...)
}

// appendLocation appends where a host leads, with the path, the query and the port that the client used.
func (x *Request) appendLocation(b []byte, host string) []byte {
	scheme := "http://"
	if x.meta.https {
		scheme = "https://"
	}
	b = append(append(append(b, "Location: "...), scheme...), host...)
	if colon := bytes.LastIndexByte(x.Req.Host, ':'); colon >= 0 {
		b = append(b, x.Req.Host[colon:]...)
	}
	if path := x.path(); len(path) > 0 && path[0] == '/' {
		b = append(b, path...)
	}
	return append(b, '\r', '\n')
}

// path returns the request target as the client sent it.
func (x *Request) path() []byte {
	if x.Hints.Target != nil {
		return x.Hints.Target
	}
	return x.Req.Target
}

// title returns a code in words: "Route not found".
func title(code string) string {
	words := strings.ReplaceAll(code, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

func (p *problem) json() []byte {
	body, err := json.Marshal(p)
	if err != nil {
		return nil // strings and numbers only
	}
	return append(body, '\n')
}

func (p *problem) html() []byte {
	esc := html.EscapeString
	var b bytes.Buffer
	b.WriteString("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">" +
		"<meta name=\"viewport\" content=\"width=device-width\"><title>" + esc(p.Title) + "</title>" +
		"<style>body{font:16px/1.5 system-ui,sans-serif;max-width:34em;margin:15vh auto;padding:0 1em;color:#222}" +
		"h1{font-size:1.4em}small{color:#666}</style></head>\n<body>")
	b.WriteString("<h1>" + strconv.Itoa(p.Status) + " " + esc(p.Title) + "</h1>\n<p>" + esc(p.Detail) + ".</p>\n")
	if p.Hint != "" {
		b.WriteString("<p>" + esc(p.Hint) + ".</p>\n")
	}
	b.WriteString("<small>" + esc(p.Code) + " &middot; " + esc(p.RequestID) + "</small>\n</body></html>\n")
	return b.Bytes()
}
