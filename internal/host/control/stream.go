package control

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
)

const copyBuffer = 16 << 10 // bytes

//nolint:gochecknoglobals // a pool
var copyBuffers = sync.Pool{New: func() any { return new([copyBuffer]byte) }}

// Stream is a connection to a socket on the machine of a host.
type Stream struct {
	io.ReadCloser // what the socket sends

	to     *io.PipeWriter
	cancel context.CancelFunc
}

// Write sends to the socket.
func (s *Stream) Write(p []byte) (int, error) { return s.to.Write(p) }

// CloseWrite tells the socket that no more is sent.
func (s *Stream) CloseWrite() error { return s.to.Close() }

// Close ends the connection.
func (s *Stream) Close() error {
	s.cancel()
	return s.ReadCloser.Close()
}

// Dial connects with a socket of a host on another machine: see Machine. The end of ctx ends
// the attempt, not the stream.
func (c *Client) Dial(ctx context.Context, to string) (*Stream, error) {
	whole, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	r, w := io.Pipe()
	request, err := http.NewRequestWithContext(whole, http.MethodPost, "http://host/dial?to="+url.QueryEscape(to), r)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("dialing %s of a host: %w", to, err)
	}
	resp, err := c.send(request) //nolint:bodyclose // the Stream closes it
	if err != nil {
		cancel()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return &Stream{resp.Body, w, cancel}, nil
}

// dial answers Client.Dial.
func dial(m Machine) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, err := m.Dial(r.Context(), r.URL.Query().Get("to"))
		if err != nil {
			_ = WriteError(w, err) // a daemon that canceled the call reads no answer
			return
		}
		defer conn.Close()
		w.WriteHeader(http.StatusOK)
		out := flushing{w, http.NewResponseController(w)}
		if out.control.Flush() != nil {
			return
		}
		stop := context.AfterFunc(r.Context(), func() { _ = conn.Close() })
		defer stop()
		go func() {
			if Copy(conn, r.Body) != nil {
				_ = conn.Close()
				return
			}
			closeWrite(conn)
		}()
		_ = Copy(out, conn) // its end is that of the answer
	}
}

// Join carries bytes between a connection of this machine and a stream, until one of them
// ends, and closes both.
func Join(near net.Conn, far *Stream) {
	defer near.Close()
	defer far.Close()
	go func() {
		if Copy(far, near) != nil {
			_ = far.Close()
			return
		}
		_ = far.CloseWrite()
	}()
	_ = Copy(near, far)
}

// Copy copies until src ends or one of them fails, with a small buffer.
func Copy(dst io.Writer, src io.Reader) error {
	buffer, _ := copyBuffers.Get().(*[copyBuffer]byte)
	defer copyBuffers.Put(buffer)
	_, err := io.CopyBuffer(struct{ io.Writer }{dst}, struct{ io.Reader }{src}, buffer[:])
	return err
}

func closeWrite(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // a socket that is closed needs none
	}
}

// flushing sends each piece when it is written.
type flushing struct {
	io.Writer

	control *http.ResponseController
}

func (f flushing) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	if err == nil {
		err = f.control.Flush()
	}
	return n, err
}
