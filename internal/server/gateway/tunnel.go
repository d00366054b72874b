package gateway

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/server/gateway/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// closeCode is 1012 Service Restart: clients connect again [D20].
	closeCode   = 1012
	closeReason = "service restart"
	// closeTime is how long a client may take to answer a close frame, and a
	// worker to finish the frame it is at.
	closeTime = 3 * time.Second
)

// tunnel is an open websocket, the same for every engine. Its two directions are
// copied by the goroutine that calls run (down, to the client) and one more (up).
type tunnel struct {
	client   net.Conn
	runtime  net.Conn
	upstream *upstream
	version  *version
	role     svc.Role
	early    []byte // what the client sent behind its handshake

	ending atomic.Bool // a close frame of the gateway is to be, or was, put in
	closed atomic.Bool // a close frame has gone to the client
	bye    atomic.Bool // a close frame has come from the client
	down   http1.Frames
	up     http1.Frames
}

// upgrade passes on the answer that opens a websocket and serves it until its
// end. The claim ends here: an open websocket is not a request in flight, a
// drain does not wait for it [D20].
func (c *conn) upgrade(ctx context.Context, x *exchange) bool {
	if !x.req.IsWebSocket() || !x.resp.IsWebSocket() {
		c.dropUpstream()
		return c.refuse(ctx, x, errNotAsked())
	}
	c.stopWatch()
	_ = c.up.SetDeadline(time.Time{})
	if c.isGone() {
		x.status = statusClientGone
		c.dropUpstream()
		return false
	}
	x.status = x.resp.Status
	first := x.buf[headroom+x.reply : headroom+x.filled]
	x.out = append(x.appendUpgrade(x.out[:0]), first...)
	c.tunnel = &tunnel{client: c.nc, runtime: c.up, early: bytes.Clone(c.in.bytes())}
	c.g.openTunnel(c.tunnel, &x.claim, first)
	if c.send(x, x.out) != nil {
		c.closeTunnel()
	}
	return false
}

func (c *conn) closeTunnel() {
	c.g.closeTunnel(c.tunnel)
	c.tunnel = nil
	c.dropUpstream()
}

// openTunnel makes t known to who may end it, which is to be done before the
// claim ends: nobody may miss it. first is what the runtime sent right behind
// its answer; the caller passes it on and runs the tunnel.
func (g *Gateway) openTunnel(t *tunnel, cl *claim, first []byte) {
	t.upstream, t.version, t.role = cl.upstream, cl.version, cl.role
	t.down.Next(first)
	t.version.stats.addTunnel(t)
	g.observeWebsocket(t.version.ref, t.role, +1)
	if t.upstream.n.Load() >= closedBit || g.closing.Load() {
		t.end() // it was retired while the websocket opened
	}
}

func (g *Gateway) closeTunnel(t *tunnel) {
	t.version.stats.removeTunnel(t)
	g.observeWebsocket(t.version.ref, t.role, -1)
}

// serveTunnel serves the websocket that the last request opened, if it did.
func (c *conn) serveTunnel() {
	if c.tunnel == nil {
		return
	}
	defer c.closeTunnel()
	c.releaseInput()
	c.tunnel.run()
}

func (x *request) appendUpgrade(b []byte) []byte {
	b = appendFields(appendStatus(b, &x.resp), &x.resp)
	b = append(append(b, "Svc-Version: "...), x.claim.version.ref.Version...)
	if x.claim.selector {
		b = append(append(b, '\r', '\n'), deprecation[:len(deprecation)-2]...)
	}
	return append(b, "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"...)
}

// run copies both directions until both have ended.
func (t *tunnel) run() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.copyUp()
		_ = t.runtime.Close() // nothing more can come from the client
	}()
	t.copyDown()
	grace := closeTime
	if t.closed.Load() && t.bye.Load() {
		grace = 0 // both have said so: nothing is left to wait for
	}
	_ = t.client.SetReadDeadline(time.Now().Add(grace))
	if tcp, ok := t.client.(*net.TCPConn); ok && t.closed.Load() && !t.ending.Load() {
		_ = tcp.CloseWrite()
	}
	<-done
}

// copyUp passes frames of the client on. After the gateway's own close frame it
// ends with the client's.
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

// copyDown passes frames of the worker on until it ends or end was called. Then
// it puts the close frame in, between two frames.
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
		// Woken by end in the middle of a frame: its rest gets some time.
		if !errors.Is(err, os.ErrDeadlineExceeded) || t.down.Closed() || t.runtime.SetReadDeadline(time.Now().Add(closeTime)) != nil {
			return
		}
	}
}

// frameBuffer is the buffer to read into next: a small one, as most websockets
// are idle, until a read has filled it.
func frameBuffer(buf []byte, filled int) []byte {
	switch {
	case buf == nil:
		return make([]byte, 2<<10)
	case filled == len(buf) && filled < bufferSize:
		return make([]byte, bufferSize)
	}
	return buf
}

// end asks for the websocket to end with 1012. It returns at once, may be
// called from any goroutine and again.
func (t *tunnel) end() {
	if t.ending.Swap(true) {
		return
	}
	now := time.Now()
	_ = t.client.SetWriteDeadline(now.Add(closeTime))
	_ = t.runtime.SetReadDeadline(now.Add(-time.Second)) // wakes copyDown
}

func closeAll(tunnels []*tunnel) {
	for _, t := range tunnels {
		t.end()
	}
}

func (s *stats) addTunnel(t *tunnel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tunnels[t] = struct{}{}
}

func (s *stats) removeTunnel(t *tunnel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tunnels, t)
}

// listTunnels returns the open websockets of a role; "" for all.
func (s *stats) listTunnels(role svc.Role) []*tunnel {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*tunnel
	for t := range s.tunnels {
		if role == "" || t.role == role {
			list = append(list, t)
		}
	}
	return list
}

func (s *stats) closeTunnels(which func(*tunnel) bool) {
	for _, t := range s.listTunnels("") {
		if which(t) {
			t.end()
		}
	}
}
