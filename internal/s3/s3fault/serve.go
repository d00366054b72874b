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
)

// exchange is one request of a client.
type exchange struct {
	w       http.ResponseWriter
	r       *http.Request
	kind    Kind
	faults  Faults
	earlier *listing // for StaleList
}

// ServeHTTP takes one request of a client.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{w: w, r: r}
	ctx, ok := p.begin(r.Context(), x)
	defer p.end(x)
	if !ok || pause(ctx, x.faults.Latency) != nil {
		reset(w)
		return
	}
	r.Body = io.NopCloser(counted{r.Body, p.up.Add})
	if err := p.meet(ctx, x); err != nil {
		reset(w)
	}
}

// errReset asks for a reset connection.
var errReset = errors.New("reset")

// meet serves a request with its fault. An error breaks the connection.
func (p *Proxy) meet(ctx context.Context, x *exchange) error {
	switch x.kind { //nolint:exhaustive // the others come after the store
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
		_, err := io.Copy(io.Discard, x.r.Body) // else the client's end is not noticed
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

// pass asks the store, and answers.
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

// forward sends r to the store, with every byte that is signed unchanged.
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
		out.Header.Set("User-Agent", "") // else one would be made up
	}
	resp, err := transport.RoundTrip(out)
	if err != nil {
		return nil, fmt.Errorf("ask the store: %w", err)
	}
	return resp, nil
}

// answer passes the store's answer on. A body that breaks breaks the connection.
func (p *Proxy) answer(w http.ResponseWriter, resp *http.Response) {
	for name, values := range resp.Header {
		if name != "Connection" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(resp.StatusCode)
	if _, err := io.Copy(flushing{w}, counted{resp.Body, p.down.Add}); err != nil {
		_ = http.NewResponseController(w).Flush() // the client gets the header at least
		panic(http.ErrAbortHandler)               // net/http's way to end a connection in the middle
	}
}

// refuse answers for the store.
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

// late resets the client's connection, and asks the store when it is gone.
func (p *Proxy) late(ctx context.Context, x *exchange) error {
	body, err := io.ReadAll(x.r.Body)
	if err != nil {
		return err
	}
	reset(x.w)
	if pause(ctx, x.faults.Delay) != nil {
		return nil //nolint:nilerr // it never arrives, of which nobody is told
	}
	x.r.Body = io.NopCloser(bytes.NewReader(body))
	if resp, err := p.forward(ctx, x); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body) // nobody reads it
		_ = resp.Body.Close()
	}
	return nil
}

// reset ends a connection so that the client gets ECONNRESET.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // it has been reset before
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // at worst a connection that merely ends
	}
	_ = conn.Close()
}
