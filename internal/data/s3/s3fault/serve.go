package s3fault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/svcctl/svcctl/internal/lib/backoff"
)

// exchange is one request of a client.
type exchange struct {
	w       http.ResponseWriter
	r       *http.Request
	kind    Kind
	faults  Faults
	earlier *listing // for StaleList
}

// ServeHTTP serves one request of a client.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{w: w, r: r}
	ctx, ok := p.begin(r.Context(), x)
	defer p.end(x)
	if !ok || backoff.Sleep(ctx, x.faults.Latency) != nil {
		reset(w)
		return
	}
	r.Body = io.NopCloser(counted{r.Body, p.up.Add})
	if err := p.meet(ctx, x); err != nil {
		reset(w)
	}
}

// errReset resets the connection.
var errReset = errors.New("reset")

// meet serves a request with its fault. An error resets the connection.
func (p *Proxy) meet(ctx context.Context, x *exchange) error {
	switch x.kind { //nolint:exhaustive // the others apply to the answer
	case ServerError:
		return p.refuse(x, http.StatusInternalServerError, "InternalError")
	case SlowDown:
		return p.refuse(x, http.StatusServiceUnavailable, "SlowDown")
	case Conflict:
		return p.refuse(x, http.StatusConflict, "ConditionalRequestConflict")
	case ResetBefore:
		return errReset
	case Late:
		return p.late(ctx, x)
	case Hang:
		_, err := io.Copy(io.Discard, x.r.Body) // otherwise the client's disconnect is not noticed
		<-ctx.Done()
		return errors.Join(err, errReset)
	case StaleList:
		resp := x.earlier.response()
		defer resp.Body.Close()
		p.answer(x.w, resp)
		return nil
	case SlowUpload:
		x.r.Body = slow(ctx, x.r.Body, x.r.ContentLength, x.faults.Slow)
	case TornUpload:
		x.r.Body = torn(x.r.Body, x.r.ContentLength)
	default:
	}
	return p.pass(ctx, x)
}

// pass forwards the request and the answer.
func (p *Proxy) pass(ctx context.Context, x *exchange) error {
	resp, err := p.forward(ctx, x)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if x.kind == ResetAfter || x.kind == HangAfter {
		_, err = io.Copy(io.Discard, resp.Body)
		if x.kind == HangAfter {
			<-ctx.Done()
		}
		return errors.Join(err, errReset)
	}
	if isList(x.r) {
		if err := p.remember(x.r, resp); err != nil {
			return err
		}
	}
	if x.kind == SlowDownload {
		resp.Body = slow(ctx, resp.Body, resp.ContentLength, x.faults.Slow)
	}
	if x.kind == TornDownload {
		resp.Body = torn(resp.Body, resp.ContentLength)
	}
	p.answer(x.w, resp)
	return nil
}

// forward sends r to the object store, with every signed byte unchanged.
func (p *Proxy) forward(ctx context.Context, x *exchange) (*http.Response, error) {
	r, transport := x.r, p.transport
	if x.kind == TornUpload {
		transport = p.unbuffered
	}
	path, query, asked := strings.Cut(r.RequestURI, "?")
	out := (&http.Request{
		Method: r.Method, Host: r.Host, Header: r.Header.Clone(), Body: r.Body, ContentLength: r.ContentLength,
		URL: &url.URL{Scheme: p.target.Scheme, Host: p.target.Host, Opaque: path, RawQuery: query, ForceQuery: asked},
	}).WithContext(ctx)
	if r.ContentLength == 0 {
		out.Body = http.NoBody
	}
	out.Header.Del("Connection")
	if r.UserAgent() == "" {
		out.Header.Set("User-Agent", "") // otherwise net/http adds one
	}
	resp, err := transport.RoundTrip(out)
	if err != nil {
		return nil, fmt.Errorf("forward request: %w", err)
	}
	return resp, nil
}

// answer forwards the answer. A body that breaks breaks the connection.
func (p *Proxy) answer(w http.ResponseWriter, resp *http.Response) {
	for name, values := range resp.Header {
		if name != "Connection" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(resp.StatusCode)
	if _, err := io.Copy(flushing{w}, counted{resp.Body, p.down.Add}); err != nil {
		_ = http.NewResponseController(w).Flush() // the client gets at least the header
		panic(http.ErrAbortHandler)               // ends the connection
	}
}

// refuse answers with an error in place of the object store.
func (p *Proxy) refuse(x *exchange, status int, code string) error {
	if _, err := io.Copy(io.Discard, x.r.Body); err != nil {
		return err
	}
	body := fmt.Sprintf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>%s</Code><Message>injected fault</Message><RequestId>s3fault</RequestId></Error>", code)
	if x.r.Method == http.MethodHead {
		body = ""
	}
	p.answer(x.w, &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/xml"}}, Body: io.NopCloser(strings.NewReader(body)),
	})
	return nil
}

// late resets the client's connection, and forwards the request afterwards.
func (p *Proxy) late(ctx context.Context, x *exchange) error {
	body, err := io.ReadAll(x.r.Body)
	if err != nil {
		return err
	}
	reset(x.w)
	if backoff.Sleep(ctx, x.faults.Delay) != nil {
		return nil //nolint:nilerr // the client's connection is reset already
	}
	x.r.Body = io.NopCloser(bytes.NewReader(body))
	if resp, err := p.forward(ctx, x); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body) // no client reads it
		_ = resp.Body.Close()
	}
	return nil
}

// reset ends a connection so that the client gets ECONNRESET.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // reset already
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // after a failure the connection ends without a reset
	}
	_ = conn.Close()
}
