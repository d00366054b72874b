package gateway

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"

	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/http1"
)

// startUpload forwards the body to the runtime in the background, unless the request
// has no body or the upload has begun.
func (x *stdExchange) startUpload() {
	if !x.Req.HasBody() || x.uploaded != nil {
		x.passed.Store(!x.Req.HasBody())
		return
	}
	x.uploaded = make(chan struct{})
	go x.pump(x.up)
}

// pump reads the whole body and writes it to the runtime. If the runtime stops
// reading, pump reads on, up to MaxRest, so that the connection is at the next
// request. If the body cannot be read, pump ends the client's context.
func (x *stdExchange) pump(up io.WriteCloser) {
	defer close(x.uploaded)
	home, _ := x.e.buffers.Get().(*[]byte)
	defer x.e.buffers.Put(home)
	buf := *home
	for out, lost := x.bodyWriter(up), 0; ; {
		n, err := x.r.Body.Read(buf)
		x.arrived.Add(int64(n))
		x.bodyRead.Store(errors.Is(err, io.EOF))
		if out.write(buf[:n]) != nil {
			lost += n
		}
		switch {
		case x.bodyRead.Load():
			x.passed.Store(out.end() == nil)
			return
		case err != nil:
			x.stopBody(up, err)
			return
		case lost > conn.MaxRest:
			return
		}
	}
}

// stopBody ends the exchange because its body cannot be read: with an error for the
// client if the framing is malformed, else the client is gone.
func (x *stdExchange) stopBody(up io.Closer, err error) {
	switch {
	case x.c.Slow.Load():
		x.bodyErr.Store(exchange.ErrSlowBody(x.e.Config.ClientTimeout))
	case isMalformed(err) && !x.c.eof.Load():
		x.bodyErr.Store(exchange.BadRequest(&http1.Error{Status: http.StatusBadRequest, Detail: "the chunked body is malformed"}))
	default:
		x.c.cancel()
		return
	}
	if up != nil {
		_ = up.Close()
	}
}

// isMalformed reports whether err, from reading a body, is about the body's framing and
// not about the connection.
func isMalformed(err error) bool {
	var network net.Error
	return !errors.As(err, &network) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, http.ErrBodyReadAfterClose)
}

// bodyWriter frames a body for the runtime. After an error, each call returns it.
type bodyWriter struct {
	up     io.Writer
	chunk  bytes.Buffer
	chunks io.WriteCloser // into chunk; nil for a body with a length
	err    error
}

func (x *stdExchange) bodyWriter(up io.Writer) *bodyWriter {
	w := &bodyWriter{up: up}
	if up == nil {
		w.err = conn.ErrUpstreamWrite
	}
	if x.Req.Chunked {
		w.chunks = httputil.NewChunkedWriter(&w.chunk)
	}
	return w
}

func (w *bodyWriter) write(b []byte) error {
	if w.err != nil || len(b) == 0 {
		return w.err
	}
	if w.chunks != nil {
		_, _ = w.chunks.Write(b)
		return w.flush()
	}
	_, w.err = w.up.Write(b)
	return w.err
}

// end writes the end of the body. Trailers of a request are not forwarded.
func (w *bodyWriter) end() error {
	if w.err != nil || w.chunks == nil {
		return w.err
	}
	_ = w.chunks.Close()
	w.chunk.WriteString("\r\n")
	return w.flush()
}

func (w *bodyWriter) flush() error {
	_, w.err = w.chunk.WriteTo(w.up)
	return w.err
}
