package gateway

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/edge/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

// stdExchange is a request and its response in stdEngine. The handler's goroutine
// owns all fields, except where a comment says otherwise.
type stdExchange struct {
	request
	e  *stdEngine
	c  *stdConn
	w  http.ResponseWriter
	rc *http.ResponseController
	r  *http.Request

	head    []byte // for the runtime
	up      *upconn
	release func() bool // detaches the runtime's connection from the client's context
	in      *bufio.Reader
	limit   io.LimitedReader // of in
	answer  *http.Response
	tunnel  *tunnel

	to   framing // of the response to the client
	keep bool    // the response says that the connection stays open

	uploaded chan struct{}             // closed when the body is no longer read; nil before the first read
	bodyErr  atomic.Pointer[svc.Error] // why the body cannot be read, if the client is to know
	bodyRead atomic.Bool               // the whole body was read
	passed   atomic.Bool               // and written to the runtime
	arrived  atomic.Int64              // bytes of the body that were read
}

// ServeHTTP serves one request.
func (e *stdEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &stdExchange{e: e, c: connOf(r), w: w, rc: http.NewResponseController(w), r: r}
	x.c.serving.Store(true)
	x.in, _ = e.readers.Get().(*bufio.Reader)
	defer func() {
		x.in.Reset(nil)
		e.readers.Put(x.in)
	}()
	whole := x.handle(r.Context())
	switch {
	case x.tunnel != nil:
		x.serveTunnel()
	case !whole:
		_ = x.c.Conn.Close() // before net/http looks for the rest of the body
		panic(http.ErrAbortHandler)
	default:
		x.finish()
	}
}

// handle answers the request. It reports whether the response is complete; if it is
// not, or is absent, the caller must close the connection.
func (x *stdExchange) handle(ctx context.Context) (whole bool) {
	x.start = time.Now()
	x.e.inflight.Add(1)
	defer x.e.inflight.Add(-1)
	defer func() { x.e.account(ctx, &x.request, &x.c.peer, time.Now()) }()
	defer x.claim.release() // at the latest
	defer x.closeAsset()
	_ = x.rc.EnableFullDuplex()
	if err := x.parse(); err != nil {
		x.unreadable()
		return x.refuse(ctx, badRequest(err))
	}
	x.inspect(&x.c.peer)
	x.c.begin(&x.request)
	if err := x.e.forward(&x.request, x, func() error { return x.roundTrip(ctx) }); err != nil {
		return x.refuse(ctx, err)
	}
	if x.static.is {
		return x.relayAsset()
	}
	if x.resp.Status == http.StatusSwitchingProtocols {
		x.c.answered(&x.request)
		return x.upgrade(ctx)
	}
	x.explain(ctx)
	return x.relay(ctx)
}

// parse parses the head again, with the grammar of the engine go, so that the code
// that works on heads exists once.
func (x *stdExchange) parse() error {
	head := appendHead(nil, x.r.Method+" "+x.r.RequestURI+" "+x.r.Proto+"\r\nHost: "+x.r.Host, x.r.Header, x.r.TransferEncoding)
	if len(head) > x.e.cfg.MaxHeader {
		return &http1.Error{Status: 431, Detail: headTooLarge}
	}
	return x.req.Parse(head)
}

// appendHead appends a head that net/http has parsed.
func appendHead(b []byte, first string, h http.Header, coding []string) []byte {
	w := bytes.NewBuffer(append(append(b, first...), '\r', '\n'))
	_ = h.Write(w)
	if slices.Contains(coding, "chunked") {
		w.WriteString("Transfer-Encoding: chunked\r\n")
	}
	w.WriteString("\r\n")
	return w.Bytes()
}

// wait implements waiter. It does not detect that a client leaves whose body is not
// read yet.
func (x *stdExchange) wait(ch <-chan struct{}, d time.Duration) error {
	return waitFor(ch, d, x.r.Context().Done(), x.e.stopped())
}

// refuse answers with an error of the gateway itself [D44].
func (x *stdExchange) refuse(ctx context.Context, err error) (whole bool) {
	if errors.Is(err, errClientGone) {
		x.status = StatusClientGone
		x.stopUpload(0)
		return false
	}
	refusal := x.e.refusal(ctx, &x.request, err)
	x.to, x.keep = byLength, len(x.req.Method) > 0 && x.keeps() && x.bodyErr.Load() == nil
	b := x.appendRefusal(nil, refusal, x.keep)
	n, _ := http1.FindHead(b, 0)
	if x.setHeader(b[:n]) != nil {
		return false
	}
	x.w.WriteHeader(x.status)
	_, _ = x.w.Write(b[n:])
	return true
}

// upgrade forwards the response that opens a websocket, which ServeHTTP then serves.
func (x *stdExchange) upgrade(ctx context.Context) (whole bool) {
	if !x.req.IsWebSocket() || !x.resp.IsWebSocket() {
		x.dropUpstream()
		return x.refuse(ctx, errNotAsked())
	}
	_, client, err := x.rc.Hijack()
	if err != nil {
		x.dropUpstream()
		x.status = StatusClientGone
		return false
	}
	x.status = x.resp.Status
	first, _ := x.in.Peek(x.in.Buffered())
	buffered := client.Reader
	early, _ := buffered.Peek(buffered.Buffered())
	x.tunnel = &tunnel{client: &x.c.client, runtime: x.up, early: bytes.Clone(early)}
	x.e.openTunnel(x.tunnel, &x.claim, first)
	_, _ = x.c.Conn.Write(append(x.appendUpgrade(nil), first...)) // the tunnel detects that a client has left
	return true
}

// serveTunnel serves the websocket until it ends.
func (x *stdExchange) serveTunnel() {
	defer func() {
		x.e.closeTunnel(x.tunnel)
		x.dropUpstream()
		_ = x.c.Conn.Close()
		x.e.mu.Lock()
		defer x.e.mu.Unlock()
		x.e.forget(x.c)
	}()
	x.tunnel.run()
}

// setHeader makes the fields of head those of the next response.
func (x *stdExchange) setHeader(head []byte) error {
	var resp http1.Response
	if err := resp.Parse(head); err != nil {
		return err
	}
	h := x.w.Header()
	clear(h)
	h["Date"], h["Content-Type"] = nil, nil // only if the worker sets them
	for i := range resp.List {
		h.Add(string(resp.List[i].Name), string(resp.List[i].Value))
	}
	return nil
}
