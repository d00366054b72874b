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

	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
	"github.com/svcctl/svcctl/internal/edge/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

// stdExchange is a request and its response in stdEngine. The handler's goroutine
// owns all fields, except where a comment says otherwise.
type stdExchange struct {
	exchange.Request
	e  *stdEngine
	c  *stdConn
	w  http.ResponseWriter
	rc *http.ResponseController
	r  *http.Request

	head    []byte // for the runtime
	up      *route.UpConn
	release func() bool // detaches the runtime's connection from the client's context
	in      *bufio.Reader
	limit   io.LimitedReader // of in
	answer  *http.Response
	tunnel  *conn.Tunnel

	to   exchange.Framing // of the response to the client
	keep bool             // the response says that the connection stays open

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
	x.Start = time.Now()
	x.e.InFlight.Add(1)
	defer x.e.InFlight.Add(-1)
	defer func() { x.e.Account(ctx, &x.Request, &x.c.peer, time.Now()) }()
	defer x.Claim.Release() // at the latest
	defer x.CloseAsset()
	_ = x.rc.EnableFullDuplex()
	if err := x.parse(); err != nil {
		x.Unreadable()
		return x.refuse(ctx, exchange.BadRequest(err))
	}
	x.Inspect(&x.c.peer)
	x.c.Begin(&x.Request)
	if err := x.e.Forward(&x.Request, x, func() error { return x.roundTrip(ctx) }); err != nil {
		return x.refuse(ctx, err)
	}
	if x.Static.Is {
		return x.relayAsset()
	}
	if x.Resp.Status == http.StatusSwitchingProtocols {
		x.c.Answered(&x.Request)
		return x.upgrade(ctx)
	}
	x.explain(ctx)
	return x.relay(ctx)
}

// parse parses the head again, with the grammar of the engine go, so that the code
// that works on heads exists once.
func (x *stdExchange) parse() error {
	head := appendHead(nil, x.r.Method+" "+x.r.RequestURI+" "+x.r.Proto+"\r\nHost: "+x.r.Host, x.r.Header, x.r.TransferEncoding)
	if len(head) > x.e.Config.MaxHeader {
		return &http1.Error{Status: 431, Detail: exchange.HeadTooLarge}
	}
	return x.Req.Parse(head)
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

// Wait implements waiter. It does not detect that a client leaves whose body is not
// read yet.
func (x *stdExchange) Wait(ch <-chan struct{}, d time.Duration) error {
	return route.WaitFor(ch, d, x.r.Context().Done(), x.e.Stopped())
}

// refuse answers with an error of the gateway itself [D44].
func (x *stdExchange) refuse(ctx context.Context, err error) (whole bool) {
	if errors.Is(err, route.ErrClientGone) {
		x.Status = exchange.StatusClientGone
		x.stopUpload(0)
		return false
	}
	refusal := x.e.Refusal(ctx, &x.Request, err)
	x.to, x.keep = exchange.ByLength, len(x.Req.Method) > 0 && x.keeps() && x.bodyErr.Load() == nil
	b := x.AppendRefusal(nil, refusal, x.keep)
	n, _ := http1.FindHead(b, 0)
	if x.setHeader(b[:n]) != nil {
		return false
	}
	x.w.WriteHeader(x.Status)
	_, _ = x.w.Write(b[n:])
	return true
}

// upgrade forwards the response that opens a websocket, which ServeHTTP then serves.
func (x *stdExchange) upgrade(ctx context.Context) (whole bool) {
	if !x.Req.IsWebSocket() || !x.Resp.IsWebSocket() {
		x.dropUpstream()
		return x.refuse(ctx, exchange.ErrNotAsked())
	}
	_, client, err := x.rc.Hijack()
	if err != nil {
		x.dropUpstream()
		x.Status = exchange.StatusClientGone
		return false
	}
	x.Status = x.Resp.Status
	first, _ := x.in.Peek(x.in.Buffered())
	buffered := client.Reader
	early, _ := buffered.Peek(buffered.Buffered())
	x.tunnel = &conn.Tunnel{Client: &x.c.Client, Runtime: x.up, Early: bytes.Clone(early)}
	x.e.OpenTunnel(x.tunnel, &x.Claim, first)
	_, _ = x.c.Conn.Write(append(x.AppendUpgrade(nil), first...)) // the tunnel detects that a client has left
	return true
}

// serveTunnel serves the websocket until it ends.
func (x *stdExchange) serveTunnel() {
	defer func() {
		x.e.CloseTunnel(x.tunnel)
		x.dropUpstream()
		_ = x.c.Conn.Close()
		x.e.mu.Lock()
		defer x.e.mu.Unlock()
		x.e.forget(x.c)
	}()
	x.tunnel.Run()
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
