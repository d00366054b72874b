package conn

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
	"github.com/svcctl/svcctl/internal/edge/http1"
)

const (
	// CloseCode is 1012 Service Restart, after which clients reconnect [D20].
	CloseCode = 1012
	// CloseReason is the reason beside CloseCode.
	CloseReason = "service restart"
	// CloseTime is the time limit for a client to answer a close frame, and for a
	// worker to finish the current frame.
	CloseTime = 3 * time.Second
)

// Tunnel is an open websocket, the same for every engine. The goroutine that calls
// run copies to the client (down), a second goroutine copies to the runtime (up).
type Tunnel struct {
	socket  route.Websocket
	Client  *Client
	Runtime net.Conn
	Early   []byte // sent by the client behind its handshake
	Wake    func() // of a loop's websocket: calls its end; nil for others

	Ending atomic.Bool // the gateway sends, or has sent, a close frame
	Closed atomic.Bool // a close frame was sent to the client
	Bye    atomic.Bool // a close frame was received from the client
	Down   http1.Frames
	Up     http1.Frames
}

// upgrade forwards the response that opens a websocket, which serveTunnel then
// serves. The claim ends here: an open websocket is not a request in flight, and a
// drain does not wait for it [D20].
func (c *Conn) upgrade(ctx context.Context, x *connExchange) {
	if !x.Req.IsWebSocket() || !x.Resp.IsWebSocket() {
		c.dropUpstream()
		c.refuse(ctx, x, exchange.ErrNotAsked())
		return
	}
	c.stopWatch()
	_ = c.up.SetDeadline(time.Time{})
	if c.isGone() {
		x.Status = exchange.StatusClientGone
		c.dropUpstream()
		return
	}
	x.Status = x.Resp.Status
	first := x.buf[Headroom+x.reply : Headroom+x.filled]
	x.out = append(x.AppendUpgrade(x.out[:0]), first...)
	c.tunnel = &Tunnel{Client: c.nc, Runtime: c.up, Early: bytes.Clone(c.in.bytes())}
	c.g.OpenTunnel(c.tunnel, &x.Claim, first)
	if c.send(x, x.out) != nil {
		c.closeTunnel()
	}
}

func (c *Conn) closeTunnel() {
	c.g.CloseTunnel(c.tunnel)
	c.tunnel = nil
	c.dropUpstream()
}

// serveTunnel serves the websocket of the last request, if that opened one.
func (c *Conn) serveTunnel() {
	if c.tunnel == nil {
		return
	}
	defer c.closeTunnel()
	c.releaseInput()
	c.tunnel.Run()
}

// Run copies both directions until both have ended.
func (t *Tunnel) Run() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.copyUp()
		_ = t.Runtime.Close() // the client sends no more
	}()
	t.copyDown()
	grace := CloseTime
	if t.Closed.Load() && t.Bye.Load() {
		grace = 0 // both sides have sent a close frame
	}
	_ = t.Client.SetReadDeadline(time.Now().Add(grace))
	if t.Closed.Load() && !t.Ending.Load() {
		_ = t.Client.CloseWrite()
	}
	<-done
}

// copyUp forwards the frames of the client. After the gateway's own close frame it
// ends with the client's close frame.
func (t *Tunnel) copyUp() {
	var buf []byte
	for b := t.Early; ; {
		if len(b) > 0 {
			t.Up.Next(b)
			t.Bye.Store(t.Up.Closed())
			if _, err := t.Runtime.Write(b); err != nil && !t.Closed.Load() {
				return
			}
			if t.Ending.Load() && t.Up.Closed() {
				return
			}
		}
		buf = frameBuffer(buf, len(b))
		n, err := t.Client.Read(buf)
		if b = buf[:n]; n == 0 && err != nil {
			return
		}
	}
}

// copyDown forwards the frames of the worker until the worker closes its connection
// or end is called. Then it sends the close frame, between two frames.
func (t *Tunnel) copyDown() {
	var buf []byte
	for n := 0; ; {
		var err error
		buf = frameBuffer(buf, n)
		n, err = t.Runtime.Read(buf)
		whole := t.Down.Next(buf[:n])
		ended := err != nil && n == 0
		if (t.Ending.Load() || ended) && !t.Down.Closed() && (whole > 0 || t.Down.Boundary()) {
			t.Ending.Store(true)
			t.Closed.Store(true)
			_, _ = t.Client.Write(http1.AppendClose(append([]byte(nil), buf[:whole]...), CloseCode, CloseReason))
			return
		}
		if n > 0 {
			t.Closed.Store(t.Down.Closed())
			if _, werr := t.Client.Write(buf[:n]); werr != nil {
				return
			}
			continue
		}
		// end was called in the middle of a frame: wait for the rest of the frame.
		if !errors.Is(err, os.ErrDeadlineExceeded) || t.Down.Closed() || t.Runtime.SetReadDeadline(time.Now().Add(CloseTime)) != nil {
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
	case filled == len(buf) && filled < BufferSize:
		return make([]byte, BufferSize)
	}
	return buf
}

// End makes the websocket end with 1012. It does not wait, and may be called from
// any goroutine, and again.
func (t *Tunnel) End() {
	if t.Ending.Swap(true) {
		return
	}
	if t.Wake != nil {
		t.Wake()
		return
	}
	now := time.Now()
	_ = t.Client.SetWriteDeadline(now.Add(CloseTime))
	_ = t.Runtime.SetReadDeadline(now.Add(-time.Second)) // wakes copyDown
}

// OpenTunnel registers t. first holds the bytes behind the runtime's response; the caller
// forwards them and runs the tunnel.
func (s *Server) OpenTunnel(t *Tunnel, cl *route.Claim, first []byte) {
	t.Down.Next(first)
	if up, ok := t.Runtime.(*route.UpConn); ok {
		up.Opened()
	}
	s.OpenWebsocket(&t.socket, cl, t)
}

// CloseTunnel ends what OpenTunnel began.
func (s *Server) CloseTunnel(t *Tunnel) { s.CloseWebsocket(&t.socket) }
