package s3server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/lib/clientlimit"
)

// port passes the connections of the TCP address to the socket, within limits that the
// library does not have. The daemon and the worker hosts use the socket, so they are served
// while other clients use up the port.
type port struct {
	ln      net.Listener
	socket  string
	timeout time.Duration // without a byte after the store has sent one
	gate    *clientlimit.Gate

	conns sync.WaitGroup
}

// openPort listens at address for at most limit connections.
func openPort(ctx context.Context, address, socket string, limit int, timeout time.Duration) (*port, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &port{ln: ln, socket: socket, timeout: timeout, gate: clientlimit.NewGate(clientlimit.Caps{Total: limit})}, nil
}

// serve passes connections on until ctx ends, and returns when all have ended.
func (p *port) serve(ctx context.Context) {
	defer p.conns.Wait()
	stop := context.AfterFunc(ctx, func() { _ = p.ln.Close() })
	defer stop()
	for {
		nc, err := p.ln.Accept()
		if err != nil {
			return // ctx has ended, or the process is out of descriptors and its parent restarts it
		}
		if p.gate.Enter(netip.Addr{}) != clientlimit.Admitted {
			_ = nc.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = nc.Write([]byte(refusal)) // into the empty buffer of the kernel: it does not wait
			_ = nc.Close()
			continue
		}
		p.conns.Go(func() {
			defer p.gate.Leave(netip.Addr{})
			p.pass(ctx, nc)
		})
	}
}

// refusal is the answer to a connection above the limit. S3 clients try again.
const refusal = "HTTP/1.1 503 Slow Down\r\nContent-Type: application/xml\r\nRetry-After: 1\r\nConnection: close\r\n\r\n" +
	"<Error><Code>SlowDown</Code><Message>The server has too many open connections.</Message></Error>\n"

// patience is the least time without a byte after the client has sent one: the store may
// need it to join the parts of a large object.
const patience = 5 * time.Minute

// pass copies both directions of a connection until one side has ended both of its own.
func (p *port) pass(ctx context.Context, client net.Conn) {
	defer client.Close()
	store, err := new(net.Dialer).DialContext(ctx, "unix", p.socket)
	if err != nil {
		return // the process is ending
	}
	defer store.Close()
	end := func() { _, _ = client.Close(), store.Close() }
	defer context.AfterFunc(ctx, end)()
	var deadline atomic.Int64 // unix nanoseconds
	deadline.Store(time.Now().Add(p.timeout).UnixNano())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.copy(store, client, &deadline, max(p.timeout, patience))
	}()
	p.copy(client, store, &deadline, p.timeout)
	end()
	<-done
}

// copy copies from src to dst until either ends, or the deadline of both directions passes.
// Each byte moves the deadline to limit from then.
func (p *port) copy(dst, src net.Conn, deadline *atomic.Int64, limit time.Duration) {
	for buf := make([]byte, ioBuffer); ; {
		until := deadline.Load()
		_ = src.SetReadDeadline(time.Unix(0, until)) // a closed connection fails the read
		n, err := src.Read(buf)
		if n > 0 {
			deadline.Store(time.Now().Add(limit).UnixNano()) // before an answer can move it
			_ = dst.SetWriteDeadline(time.Now().Add(p.timeout))
			if _, err := dst.Write(buf[:n]); err != nil {
				_ = src.Close()
				return
			}
		}
		switch {
		case err == nil || errors.Is(err, os.ErrDeadlineExceeded) && deadline.Load() > until: // a byte has moved
		case errors.Is(err, io.EOF):
			if half, ok := dst.(interface{ CloseWrite() error }); ok {
				_ = half.CloseWrite()
			}
			return
		default:
			_ = dst.Close() // the other direction ends too
			return
		}
	}
}
