package gateway

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/server/gateway/http1"
)

// stdConn is a client's connection under net/http.
type stdConn struct {
	net.Conn
	e      *stdEngine
	peer   peer
	cancel context.CancelFunc   // ends the context of the connection's requests
	reject func(status int) int // answers a request that net/http cannot parse

	serving bool        // a handler serves the request; owned by the connection's goroutine
	idle    bool        // without a request; Gateway.mu guards it
	ended   atomic.Bool // no more reads: the rest of a body is no request
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
	if c.serving {
		return c.Conn.Write(b)
	}
	const status = len("HTTP/1.1 ")
	if len(b) > status+3 && !c.ended.Swap(true) {
		n, _ := strconv.Atoi(string(b[status : status+3]))
		c.reject(n)
	}
	return len(b), nil
}

func (c *stdConn) Read(b []byte) (int, error) {
	if c.ended.Load() {
		return 0, io.EOF
	}
	return c.Conn.Read(b)
}

// Close closes the connection, after linger if the client may still be sending.
func (c *stdConn) Close() error {
	if c.ended.Load() {
		linger(c.Conn, make([]byte, bufioSlop))
	}
	return c.Conn.Close()
}

// CloseWrite closes the direction to the client. net/http calls it before Close.
func (c *stdConn) CloseWrite() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		return tcp.CloseWrite()
	}
	return nil
}

// reject answers a request that net/http could not parse.
func (e *stdEngine) reject(ctx context.Context, c *stdConn, status int) int {
	x := request{start: time.Now()}
	x.unreadable()
	refusal := e.refusal(ctx, &x, badRequest(&http1.Error{Status: status, Detail: headTooLarge}))
	n, _ := c.Conn.Write(x.appendRefusal(nil, refusal, false))
	e.account(ctx, &x, &c.peer, time.Now())
	return n
}

// connOf returns the connection of a request.
func connOf(r *http.Request) *stdConn {
	c, _ := r.Context().Value(stdConnKey{}).(*stdConn)
	return c
}
