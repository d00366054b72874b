package machines

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/lib/peer"
	"github.com/svcctl/svcctl/internal/svc"
)

// redial is the wait before a connection that a line did not carry is dialed again.
const redial = 10 * time.Millisecond

// Locate makes the sockets of a worker on this machine, whose connections are carried to it.
func (h *host) Locate(ctx context.Context, e svc.Endpoint) (svc.Endpoint, error) {
	var err error
	if e.Socket, err = h.listen(ctx, filepath.Base(e.Socket)); err != nil {
		return svc.Endpoint{}, err
	}
	if e.Calls != "" {
		if e.Calls, err = h.listen(ctx, filepath.Base(e.Calls)); err != nil {
			return svc.Endpoint{}, err
		}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return svc.Endpoint{}, fmt.Errorf("listening on a port of the version: %w", err)
	}
	h.carry(l, control.DialPort) //nolint:contextcheck // until the host ends
	if a, ok := l.Addr().(*net.TCPAddr); ok {
		e.Port = a.Port
	}
	e.Node, e.ClusterNode, e.Inspector = h.name, h.fleet.cfg.Policy.Node(h.machine), 0
	e.Direct, e.DirectPin = h.direct, h.pin
	h.mu.Lock()
	h.key = e.PortKey
	h.mu.Unlock()
	h.serving.Do(func() { close(h.located) })
	return e, nil
}

// listen makes the socket that stands for one of the machine. Only this process connects to it: its
// gateway, and what joins calls of workers.
func (h *host) listen(ctx context.Context, name string) (path string, err error) {
	path = filepath.Join(h.dir, name)
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return "", fmt.Errorf("listening for a version of another machine: %w", err)
	}
	h.carry(peer.Only(l, 0, nil), name) //nolint:contextcheck // as above
	return path, nil
}

// carry carries the connections of l to a socket of the machine, until the host has ended.
func (h *host) carry(l net.Listener, to string) {
	ctx, cancel := context.WithCancel(h.fleet.life)
	h.mu.Lock()
	h.closers = append(h.closers, func() { cancel(); _ = l.Close() })
	h.mu.Unlock()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go h.carryOne(ctx, conn, to)
		}
	}()
}

func (h *host) carryOne(ctx context.Context, conn net.Conn, to string) {
	for {
		client, err := h.await(ctx)
		if err != nil {
			break
		}
		stream, err := client.Dial(ctx, to)
		if err == nil {
			control.Join(conn, stream)
			return
		}
		if errors.As(err, new(*svc.Error)) || backoff.Sleep(ctx, redial) != nil {
			break // the worker has ended
		}
	}
	_ = conn.Close() // the client sees that the worker is gone
}

// join connects a call of the worker with the socket that it is for.
func (h *host) join(c control.Call) {
	ctx := h.fleet.life
	client, err := h.await(ctx)
	if err != nil {
		return
	}
	stream, err := client.Dial(ctx, control.CallPrefix+c.ID)
	if err != nil {
		return // the call has ended
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", filepath.Join(h.dir, filepath.Base(c.Socket)))
	if err != nil {
		_ = stream.Close()
		return
	}
	control.Join(conn, stream)
}
