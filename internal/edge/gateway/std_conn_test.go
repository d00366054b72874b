package gateway

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/http1"
)

// stdConn is a client's connection under net/http.
type stdConn struct {
	conn.Client
	e      *stdEngine
	peer   exchange.Peer
	cancel context.CancelFunc   // ends the context of the connection's requests
	reject func(status int) int // answers a request that net/http cannot parse

	serving   atomic.Bool // a handler serves the request
	idle      bool        // without a request; stdEngine.mu guards it
	fresh     bool        // idle, and without a request before; stdEngine.mu guards it
	idleSince time.Time   // stdEngine.mu guards it
	ended     atomic.Bool // no more reads: the rest of a body is no request
	eof       atomic.Bool // the client sends no more, and net/http needed more
	lingers   atomic.Bool // Close drops what the client sends
	lengths   lengths     // of the heads that were read
}

type stdConnKey struct{}

// withStdConn returns the context of the requests of a connection.
func withStdConn(ctx context.Context, nc net.Conn) context.Context {
	c, ok := nc.(*stdConn)
	if !ok {
		return ctx
	}
	ctx, c.cancel = context.WithCancel(ctx)
	ctx = context.WithValue(ctx, stdConnKey{}, c)
	c.reject = func(status int) int { return c.e.reject(ctx, c, status) }
	return ctx
}

// Write writes a handler's response. What net/http writes without a handler is its
// own refusal of a request that it cannot parse: the client receives the gateway's
// refusal instead.
func (c *stdConn) Write(b []byte) (int, error) {
	if c.serving.Load() {
		return c.Client.Write(b)
	}
	const status = len("HTTP/1.1 ")
	if len(b) > status+3 && !c.ended.Swap(true) {
		n, _ := strconv.Atoi(string(b[status : status+3]))
		c.reject(n)
	}
	return len(b), nil
}

// Read reads for net/http. A read of one byte is the one that net/http has in progress
// during a request, after the body: there the end of input is not the end of the
// client.
func (c *stdConn) Read(b []byte) (int, error) {
	if c.ended.Load() {
		return 0, io.EOF
	}
	n, err := c.read(b)
	c.lengths.see(b[:n])
	if len(b) > 1 && errors.Is(err, io.EOF) {
		c.eof.Store(true) // net/http's error does not tell it from malformed trailers
	}
	if n == 0 && len(b) == 1 && errors.Is(err, io.EOF) {
		err = c.AwaitReset()
	}
	return n, err
}

func (c *stdConn) read(b []byte) (int, error) {
	if len(b) > 1 && c.serving.Load() {
		return c.ReadBody(b)
	}
	return c.Conn.Read(b)
}

// Close closes the connection. If the client may still be sending, it drops that first, so
// that the client can read its response.
func (c *stdConn) Close() error {
	if c.ended.Load() {
		c.lingers.Store(true)
		c.e.Linger().CloseWrite(&c.Client, make([]byte, conn.BufferSize))
	}
	return c.Conn.Close()
}

// reject answers a request that net/http could not parse.
func (e *stdEngine) reject(ctx context.Context, c *stdConn, status int) int {
	var x exchange.Request
	x.Start = time.Now()
	x.Unreadable()
	detail := strings.ToLower(http.StatusText(status))
	if status == http.StatusRequestHeaderFieldsTooLarge {
		detail = exchange.HeadTooLarge
	}
	refusal := e.Refusal(ctx, &x, exchange.BadRequest(&http1.Error{Status: status, Detail: detail}))
	n, _ := c.Conn.Write(x.AppendRefusal(nil, refusal, false))
	e.Account(ctx, &x, &c.peer, time.Now())
	return n
}

// connOf returns the connection of a request.
func connOf(r *http.Request) *stdConn {
	c, _ := r.Context().Value(stdConnKey{}).(*stdConn)
	return c
}
