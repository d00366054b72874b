package agent

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"path/filepath"
	"sync"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/fleet/process"
	"github.com/svcctl/svcctl/internal/host/binding/services"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/lib/peer"
	"github.com/svcctl/svcctl/internal/svc"
)

// calls are the connections that the worker makes to sockets of the daemon: calls of other
// workers, and questions about them. Each is announced, and waits until the daemon takes it.
type calls struct {
	mu        sync.Mutex // guards the fields below
	waiting   map[string]net.Conn
	listeners []net.Listener
	closed    bool
}

func newCalls() *calls { return &calls{waiting: map[string]net.Conn{}} }

// listen listens in the directory of the worker host p for the calls that the bundle of self declares.
func (c *calls) listen(ctx context.Context, self svc.Ref, bundleDir string, p *process.Process, announce func(control.Notice)) error {
	m, err := bundle.Load(bundleDir)
	if err != nil {
		return err
	}
	targets := services.Distinct(services.Targets(&m, self))
	names := make([]string, 0, len(targets)+1)
	for _, t := range targets {
		names = append(names, t.Socket())
	}
	if len(names) > 0 {
		names = append(names, services.AskSocket)
	}
	for _, name := range names {
		ln, err := peer.Listen(ctx, filepath.Join(p.Dir(), name))
		if err != nil {
			return fmt.Errorf("listening for calls of %s: %w", self, err)
		}
		if ln = peer.Only(ln, p.PID(), nil); !c.add(ln) {
			return ln.Close()
		}
		go c.accept(ln, name, announce)
	}
	return nil
}

func (c *calls) add(ln net.Listener) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.listeners = append(c.listeners, ln)
	}
	return !c.closed
}

// accept announces connections until ln is closed.
func (c *calls) accept(ln net.Listener, name string, announce func(control.Notice)) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		id := rand.Text()
		c.mu.Lock()
		if c.closed {
			c.mu.Unlock()
			_ = conn.Close()
			return
		}
		c.waiting[id] = conn
		c.mu.Unlock()
		announce(control.Notice{Call: &control.Call{ID: id, Socket: name}})
	}
}

// take returns a call that was announced.
func (c *calls) take(id string) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn, ok := c.waiting[id]
	if !ok {
		return nil, svc.Errorf(svc.Unavailable, svc.CodeRuntimeUnavailable, "the call has ended")
	}
	delete(c.waiting, id)
	return conn, nil
}

// close ends the listeners and the calls that wait.
func (c *calls) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, ln := range c.listeners {
		_ = ln.Close() // its socket goes with the run directory
	}
	for _, conn := range c.waiting {
		_ = conn.Close()
	}
	clear(c.waiting)
}
