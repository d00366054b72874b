package exchange

import (
	"bytes"
	"context"
	"html"
	"net/http"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	faultText  = "Internal Server Error"
	maxFaults  = 8           // requests that look for their exception at the same time
	faultLimit = time.Second // for one of them
)

// Threw reports whether workerd answered in place of the worker, which threw or never
// answered. workerd then sends these two fields alone. A worker's own response cannot have
// the first one.
func (x *Request) Threw() bool {
	r := &x.Resp
	return r.Status == http.StatusInternalServerError && !r.KeepsAlive() && r.Length == int64(len(faultText)) && len(r.List) == 2
}

// Explain replaces the response of a worker that threw, which has no media type: on
// preview hosts by the exception, if Config.Exception is set. The head becomes that of x;
// ok is false if the response stays.
func (s *Service) Explain(ctx context.Context, x *Request) (body []byte, ok bool) {
	if !x.Threw() {
		return nil, false
	}
	x.failed = true
	fields, kind, body := "", "text/plain;charset=UTF-8", []byte(faultText)
	if s.cfg.Exception != nil && x.Claim.Role == svc.RolePreview {
		fields = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nContent-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n"
		f := s.faultOf(ctx, x)
		if body = f.text(); bytes.Contains(x.meta.accept, []byte("text/html")) {
			kind, body = "text/html;charset=UTF-8", f.html()
		}
	}
	head := []byte("HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\n" + fields + "Content-Type: " + kind)
	head = appendInt(append(head, "\r\nContent-Length: "...), int64(len(body)))
	if x.Resp.Parse(append(head, "\r\n\r\n"...)) != nil {
		return nil, false // it always parses
	}
	if string(x.Req.Method) == http.MethodHead {
		body = nil
	}
	return body, true
}

// fault is what a preview host shows of an exception.
type fault struct {
	exception string // with its stack; "" if unknown
	request   string // id of the request
	command   string // that shows its log
}

func (s *Service) faultOf(ctx context.Context, x *Request) fault {
	ref, id := x.Claim.Ref(), string(x.meta.traceparent[parentAt:parentEnd])
	f := fault{request: id, command: "svcctl logs " + ref.String() + " --request " + id}
	select {
	case s.faults <- struct{}{}:
		ctx, cancel := context.WithTimeout(ctx, faultLimit)
		f.exception = s.cfg.Exception(ctx, ref, id, x.Start)
		cancel()
		<-s.faults
	default: // many exceptions at a time need no page each
	}
	if f.exception == "" {
		f.exception = "The worker threw an exception, or it will never respond. The log has no exception with the id of this request."
		f.command = "svcctl logs " + ref.String() + " --since 1m"
	}
	return f
}

func (f fault) text() []byte {
	return []byte(f.exception + "\n\nrequest " + f.request + "\n" + f.command + "\n")
}

func (f fault) html() []byte {
	first, stack, _ := strings.Cut(f.exception, "\n")
	esc := html.EscapeString
	return []byte("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">" +
		"<meta name=\"color-scheme\" content=\"light dark\"><title>" + esc(first) + "</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:8vh auto;padding:0 1em;color:#222}" +
		"h1{font-size:1.3em;overflow-wrap:anywhere}pre{background:#f4f4f4;padding:1em;overflow:auto}small{color:#666}" +
		"@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}pre{background:#262626}small{color:#999}}</style></head>\n<body>" +
		"<h1>" + esc(first) + "</h1>\n<pre>" + esc(stack) + "</pre>\n<p>The log of this request:</p>\n<pre>" + esc(f.command) + "</pre>\n" +
		"<small>request " + esc(f.request) + "</small>\n</body></html>\n")
}
