package control

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"
)

// Client is the daemon's end of the line.
type Client struct {
	line  *line
	heard Heard
	ended chan struct{}

	mu      sync.Mutex // guards what follows
	last    int64
	waiting map[int64]chan frame
	closed  bool
}

// Heard is called with what a host says unasked. It must not block. An answer that
// the host gives later is there later.
type Heard struct {
	Exit     func(Exit)       // workerd is gone
	Requests func([]Requests) // to the object store, those that no Pong told of
}

// Connect takes conn and reads from it until it ends or Close is called.
func Connect(conn net.Conn, heard Heard) *Client {
	c := &Client{line: newLine(conn), heard: heard, ended: make(chan struct{}), waiting: map[int64]chan frame{}}
	go c.read()
	return c
}

// Open gives the host its version: the host opens the data.
func (c *Client) Open(ctx context.Context, s Spec) error {
	return c.call(ctx, methodOpen, s, nil)
}

// Prepare applies the version's migrations.
func (c *Client) Prepare(ctx context.Context) (Prepared, error) {
	var p Prepared
	err := c.call(ctx, methodPrepare, nil, &p)
	return p, err
}

// Serve starts workerd and answers when every socket listens.
func (c *Client) Serve(ctx context.Context) (Ready, error) {
	var r Ready
	err := c.call(ctx, methodServe, nil, &r)
	return r, err
}

// Ping asks whether workerd's event loop turns, and how the data is.
func (c *Client) Ping(ctx context.Context) (Pong, error) {
	var p Pong
	err := c.call(ctx, methodPing, nil, &p)
	return p, err
}

// Cut asks an open version for one moment of its data.
func (c *Client) Cut(ctx context.Context) (Cut, error) {
	var cut Cut
	err := c.call(ctx, methodCut, nil, &cut)
	return cut, err
}

// Archive has a host that was not asked to open a version bring its data into
// the object store; the host then exits.
func (c *Client) Archive(ctx context.Context, s Spec) error {
	return c.call(ctx, methodArchive, s, nil)
}

// Stop ends workerd and closes the data; the host then exits.
func (c *Client) Stop(ctx context.Context, grace time.Duration) error {
	return c.call(ctx, methodStop, Stop{grace}, nil)
}

// Ended is closed when the line is: what the host has said until then was heard.
func (c *Client) Ended() <-chan struct{} { return c.ended }

// Close ends the line, which the host takes for the end of the daemon.
func (c *Client) Close() error { return c.line.conn.Close() }

func (c *Client) call(ctx context.Context, method string, params, result any) error {
	id, answer, err := c.register()
	if err != nil {
		return err
	}
	defer c.forget(id)
	if err := c.line.write(frame{ID: id, Method: method}, params); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		_ = c.line.write(frame{ID: id, Method: methodCancel}, nil) // a line that is gone has nothing to cancel
		return fmt.Errorf("waiting for the runtime to %s: %w", method, context.Cause(ctx))
	case f, ok := <-answer:
		switch {
		case !ok:
			return ErrClosed
		case f.Error != nil:
			return f.Error.err()
		case result == nil:
			return nil
		}
		if err := json.Unmarshal(f.Body, result); err != nil {
			return fmt.Errorf("reading the answer to %s: %w", method, err)
		}
		return nil
	}
}

func (c *Client) register() (int64, <-chan frame, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, nil, ErrClosed
	}
	c.last++
	answer := make(chan frame, 1)
	c.waiting[c.last] = answer
	return c.last, answer, nil
}

func (c *Client) forget(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

func (c *Client) read() {
	defer close(c.ended)
	defer c.end()
	for {
		f, err := c.line.read()
		if err != nil {
			return
		}
		switch f.Method {
		case methodExited:
			hear(f, c.heard.Exit)
			continue
		case methodRequests:
			hear(f, c.heard.Requests)
			continue
		}
		c.mu.Lock()
		answer := c.waiting[f.ID]
		delete(c.waiting, f.ID)
		c.mu.Unlock()
		if answer != nil {
			answer <- f
		}
	}
}

func hear[T any](f frame, tell func(T)) {
	var said T
	if json.Unmarshal(f.Body, &said) == nil {
		tell(said)
	}
}

// end fails the requests under way.
func (c *Client) end() {
	_ = c.line.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for id, answer := range c.waiting {
		close(answer)
		delete(c.waiting, id)
	}
}
