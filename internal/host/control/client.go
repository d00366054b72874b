package control

import (
	"context"
	"fmt"
	"net"
	"net/http"
)

// Client is the daemon's end of the line.
type Client struct {
	conn  *http.ClientConn
	ended chan struct{}
}

// Connect takes conn and uses it until the line ends or Close is called. heard is
// called with each notice of the host, in order; it must not block. A host's notice
// is heard before the answers that the host gives after it. The end of ctx does not
// end the line.
func Connect(ctx context.Context, conn net.Conn, heard func(Notice)) (*Client, error) {
	t := &http.Transport{
		Protocols: h2(), HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: bodyWindow, MaxReadFrameSize: frameSize},
		DisableCompression: true,
		DialContext:        func(context.Context, string, string) (net.Conn, error) { return plain{conn}, nil },
	}
	// The transport's own pool would dial again for a request that comes before the
	// first connection is ready.
	line, err := t.NewClientConn(ctx, "http", "host:80")
	if err != nil {
		_ = conn.Close()
		return nil, closedErr(err)
	}
	c := &Client{conn: line, ended: make(chan struct{})}
	go c.listen(context.WithoutCancel(ctx), heard)
	return c, nil
}

// listen asks for notices until the line ends.
func (c *Client) listen(ctx context.Context, heard func(Notice)) {
	defer close(c.ended)
	defer c.conn.Close()
	for n := 0; ; n++ {
		notice, err := call[int, Notice](ctx, c, nextNotice, n)
		if err != nil {
			return
		}
		heard(notice)
	}
}

// Data sends r to the host, which answers for the version's data: r's URL needs its
// path and query only. The caller closes the answer's body. An error that the host
// answers with is an svc.Error.
func (c *Client) Data(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = "http", dataHost, dataHost
	return c.send(r)
}

// send is RoundTrip with the errors of this package.
func (c *Client) send(r *http.Request) (*http.Response, error) {
	resp, err := c.conn.RoundTrip(r)
	if err == nil {
		err = ReadError(resp)
	}
	if err != nil {
		return nil, c.why(r, err)
	}
	return resp, nil
}

// why is the reason for err: the request's context, the end of the line, or err.
func (c *Client) why(r *http.Request, err error) error {
	switch {
	case err == nil:
		return nil
	case r.Context().Err() != nil:
		return context.Cause(r.Context())
	case c.conn.Err() != nil:
		return closedErr(err)
	}
	return err
}

// Ended is closed when the line has ended. By then, heard was called with every
// notice that the host sent.
func (c *Client) Ended() <-chan struct{} { return c.ended }

// Close ends the line, and the host with it.
func (c *Client) Close() error { return c.conn.Close() }

func closedErr(err error) error { return fmt.Errorf("%w: %w", ErrClosed, err) }
