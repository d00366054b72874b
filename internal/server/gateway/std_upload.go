package gateway

import (
	"bytes"
	"errors"
	"io"
	"net/http/httputil"
	"time"
)

// startUpload passes the body on to the runtime in the background, unless there
// is none or that has begun.
func (x *stdExchange) startUpload() {
	if !x.req.HasBody() || x.uploaded != nil {
		x.passed.Store(!x.req.HasBody())
		return
	}
	x.uploaded = make(chan struct{})
	go x.pump(x.up)
}

// pump reads the body to its end and writes it to the runtime. What the runtime
// does not take is read all the same, within a limit, so that the next request
// is found. The client's context ends with a body that cannot be read.
func (x *stdExchange) pump(up io.Writer) {
	defer close(x.uploaded)
	home, _ := x.e.buffers.Get().(*[]byte)
	defer x.e.buffers.Put(home)
	buf := *home
	for out, lost := x.bodyWriter(up), 0; ; {
		n, err := x.r.Body.Read(buf)
		x.bodyRead.Store(errors.Is(err, io.EOF))
		if out.write(buf[:n]) != nil {
			lost += n
		}
		switch {
		case x.bodyRead.Load():
			x.passed.Store(out.end() == nil)
			return
		case err != nil:
			x.c.cancel()
			return
		case lost > lingerBytes:
			return
		}
	}
}

// bodyWriter frames a body for the runtime. Its first error stays.
type bodyWriter struct {
	up     io.Writer
	chunk  bytes.Buffer
	chunks io.WriteCloser // into chunk; nil for a body with a length
	err    error
}

func (x *stdExchange) bodyWriter(up io.Writer) *bodyWriter {
	w := &bodyWriter{up: up}
	if up == nil {
		w.err = errUpstreamWrite
	}
	if x.req.Chunked {
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

// end writes the end of the body. A request's trailers end here.
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

// finish leaves the client's connection at the end of the request, whose body
// the worker may not have wanted, or has it end behind the answer. The end of an
// answer in chunks goes out only when the handler returns: not much time then.
func (x *stdExchange) finish(to framing, keep bool) (whole bool) {
	switch {
	case len(x.req.Method) == 0: // nothing is known of a body
		x.c.ended.Store(true)
		return true
	case !x.req.HasBody():
		return true
	}
	patient := lingerTime
	switch {
	case !keep:
		patient = 0
	case to == byChunks:
		patient = patience
	}
	if keep && x.uploaded == nil && !x.req.WantsContinue() { // with it, a body comes only if it is asked for
		x.uploaded = make(chan struct{})
		go x.pump(nil)
	}
	x.stopUpload(patient)
	x.c.ended.Store(!x.bodyRead.Load())
	return true
}

// stopUpload waits until the body was read, at most d, and has the rest of it
// stay where it is.
func (x *stdExchange) stopUpload(d time.Duration) {
	if x.uploaded == nil {
		return
	}
	select {
	case <-x.uploaded:
		return
	default:
	}
	if d > patience {
		_ = x.rc.Flush() // the client may wait for the answer before it sends more
	}
	_ = x.rc.SetReadDeadline(time.Now().Add(d))
	<-x.uploaded
}
