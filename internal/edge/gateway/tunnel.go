package gateway

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

const (
	// closeCode is 1012 Service Restart, after which clients reconnect [D20].
	closeCode   = 1012
	closeReason = "service restart"
	// closeTime is the time limit for a client to answer a close frame, and for a
	// worker to finish the current frame.
	closeTime = 3 * time.Second
)

// tunnel is an open websocket, the same for every engine. The goroutine that calls
// run copies to the client (down), a second goroutine copies to the runtime (up).
type tunnel struct {
	socket  websocket
	client  *client
	runtime net.Conn
	early   []byte // sent by the client behind its handshake
	wake    func() // of a loop's websocket: calls its end; nil for others

	ending atomic.Bool // the gateway sends, or has sent, a close frame
	closed atomic.Bool // a close frame was sent to the client
	bye    atomic.Bool // a close frame was received from the client
	down   http1.Frames
	up     http1.Frames
}

// upgrade forwards the response that opens a websocket, which serveTunnel then
// serves. The claim ends here: an open websocket is not a request in flight, and a
// drain does not wait for it [D20].
func (c *conn) upgrade(ctx context.Context, x *exchange) {
	if !x.req.IsWebSocket() || !x.resp.IsWebSocket() {
		c.dropUpstream()
		c.refuse(ctx, x, errNotAsked())
		return
	}
	c.stopWatch()
	_ = c.up.SetDeadline(time.Time{})
	if c.isGone() {
		x.status = StatusClientGone
		c.dropUpstream()
		return
	}
	x.status = x.resp.Status
	first := x.buf[headroom+x.reply : headroom+x.filled]
	x.out = append(x.appendUpgrade(x.out[:0]), first...)
	c.tunnel = &tunnel{client: c.nc, runtime: c.up, early: bytes.Clone(c.in.bytes())}
	c.g.openTunnel(c.tunnel, &x.claim, first)
	if c.send(x, x.out) != nil {
		c.closeTunnel()
	}
}

func (c *conn) closeTunnel() {
	c.g.closeTunnel(c.tunnel)
	c.tunnel = nil
	c.dropUpstream()
}

// serveTunnel serves the websocket of the last request, if that opened one.
func (c *conn) serveTunnel() {
	if c.tunnel == nil {
		return
	}
	defer c.closeTunnel()
	c.releaseInput()
	c.tunnel.run()
}

// run copies both directions until both have ended.
func (t *tunnel) run() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.copyUp()
		_ = t.runtime.Close() // the client sends no more
	}()
	t.copyDown()
	grace := closeTime
	if t.closed.Load() && t.bye.Load() {
		grace = 0 // both sides have sent a close frame
	}
	_ = t.client.SetReadDeadline(time.Now().Add(grace))
	if t.closed.Load() && !t.ending.Load() {
		_ = t.client.CloseWrite()
	}
	<-done
}

// copyUp forwards the frames of the client. After the gateway's own close frame it
// ends with the client's close frame.
func (t *tunnel) copyUp() {
	var buf []byte
	for b := t.early; ; {
		if len(b) > 0 {
			t.up.Next(b)
			t.bye.Store(t.up.Closed())
			if _, err := t.runtime.Write(b); err != nil && !t.closed.Load() {
				return
			}
			if t.ending.Load() && t.up.Closed() {
				return
			}
		}
		buf = frameBuffer(buf, len(b))
		n, err := t.client.Read(buf)
		if b = buf[:n]; n == 0 && err != nil {
			return
		}
	}
}

// copyDown forwards the frames of the worker until the worker closes its connection
// or end is called. Then it sends the close frame, between two frames.
func (t *tunnel) copyDown() {
	var buf []byte
	for n := 0; ; {
		var err error
		buf = frameBuffer(buf, n)
		n, err = t.runtime.Read(buf)
		whole := t.down.Next(buf[:n])
		ended := err != nil && n == 0
		if (t.ending.Load() || ended) && !t.down.Closed() && (whole > 0 || t.down.Boundary()) {
			t.ending.Store(true)
			t.closed.Store(true)
			_, _ = t.client.Write(http1.AppendClose(append([]byte(nil), buf[:whole]...), closeCode, closeReason))
			return
		}
		if n > 0 {
			t.closed.Store(t.down.Closed())
			if _, werr := t.client.Write(buf[:n]); werr != nil {
				return
			}
			continue
		}
		// end was called in the middle of a frame: wait for the rest of the frame.
		if !errors.Is(err, os.ErrDeadlineExceeded) || t.down.Closed() || t.runtime.SetReadDeadline(time.Now().Add(closeTime)) != nil {
			return
		}
	}
}

// frameBuffer returns the buffer for the next read: a small one, since most
// websockets are idle, until a read has filled it.
func frameBuffer(buf []byte, filled int) []byte {
	switch {
	case buf == nil:
		return make([]byte, 2<<10)
	case filled == len(buf) && filled < bufferSize:
		return make([]byte, bufferSize)
	}
	return buf
}

// end makes the websocket end with 1012. It does not wait, and may be called from
// any goroutine, and again.
func (t *tunnel) end() {
	if t.ending.Swap(true) {
		return
	}
	if t.wake != nil {
		t.wake()
		return
	}
	now := time.Now()
	_ = t.client.SetWriteDeadline(now.Add(closeTime))
	_ = t.runtime.SetReadDeadline(now.Add(-time.Second)) // wakes copyDown
}

// openTunnel registers t. first holds the bytes behind the runtime's response; the caller
// forwards them and runs the tunnel.
func (s *Server) openTunnel(t *tunnel, cl *claim, first []byte) {
	t.down.Next(first)
	if up, ok := t.runtime.(*upconn); ok {
		up.opened()
	}
	s.openWebsocket(&t.socket, cl, t)
}

func (s *Server) closeTunnel(t *tunnel) { s.closeWebsocket(&t.socket) }
