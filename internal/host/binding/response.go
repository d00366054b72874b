package binding

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
)

// response is the ResponseWriter of Server. An answer without Content-Length
// is sent in chunks.
type response struct {
	conn    net.Conn
	buf     *bufio.Writer
	header  http.Header
	body    io.ReadCloser // of the request
	noBody  bool          // the answer to a HEAD request
	wrote   bool          // the head
	chunked bool
	left    int64 // of the length that was announced, unless chunked
	broken  bool  // the connection is of no further use
}

var (
	_ http.Flusher  = (*response)(nil)
	_ StatusWriter  = (*response)(nil)
	_ io.ReaderFrom = (*response)(nil)
)

func (w *response) reset(r *http.Request) {
	*w = response{conn: w.conn, buf: w.buf, header: http.Header{}, body: r.Body, noBody: r.Method == http.MethodHead}
}

// Header gives the headers of the answer.
func (w *response) Header() http.Header { return w.header }

// WriteHeader begins the answer.
func (w *response) WriteHeader(code int) { w.writeHead(code, http.StatusText(code)) }

// WriteStatus begins an answer with a reason phrase and no body.
func (w *response) WriteStatus(code int, reason string) {
	w.header["Content-Length"] = []string{"0"}
	w.writeHead(code, reason)
}

func (w *response) writeHead(code int, reason string) {
	if w.wrote {
		return
	}
	w.wrote = true
	b := w.buf.AvailableBuffer()
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(code), 10)
	b = append(append(append(b, ' '), reason...), "\r\n"...)
	for name, values := range w.header {
		for _, v := range values {
			b = append(append(append(append(b, name...), ": "...), v...), "\r\n"...)
		}
	}
	length, sized := w.header["Content-Length"]
	bodiless := w.noBody || code == http.StatusNoContent || code == http.StatusNotModified
	if sized && !bodiless {
		w.left, _ = strconv.ParseInt(length[0], 10, 64)
	}
	if w.chunked = !sized && !bodiless; w.chunked {
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	}
	w.write(append(b, "\r\n"...))
}

func (w *response) write(b []byte) {
	if _, err := w.buf.Write(b); err != nil {
		w.broken = true
	}
}

// Write sends a part of the body.
func (w *response) Write(b []byte) (int, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case w.noBody || len(b) == 0:
	case w.chunked:
		w.write(append(strconv.AppendInt(w.buf.AvailableBuffer(), int64(len(b)), 16), "\r\n"...))
		w.write(b)
		w.write([]byte("\r\n"))
	default:
		w.left -= int64(len(b))
		w.write(b)
	}
	if w.broken {
		return 0, net.ErrClosed
	}
	return len(b), nil
}

// section is a part of a file that a reader reads: an io.SectionReader, or what embeds one.
type section interface {
	io.ReadSeeker
	Outer() (r io.ReaderAt, off, n int64)
}

// ReadFrom sends the rest of src as a part of the body. The kernel copies what is in a file.
func (w *response) ReadFrom(src io.Reader) (int64, error) {
	if s, ok := src.(section); ok {
		from, off, size := s.Outer()
		at, err := s.Seek(0, io.SeekCurrent)
		if f, ok := from.(*os.File); ok && err == nil {
			return w.sendFile(f, off+at, size-at)
		}
	}
	return io.Copy(struct{ io.Writer }{w}, src)
}

func (w *response) sendFile(f *os.File, off, n int64) (int64, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	to, ok := w.conn.(fileSender)
	if !ok || w.noBody || w.chunked || n > w.left {
		sent, err := io.Copy(struct{ io.Writer }{w}, io.NewSectionReader(f, off, n))
		if err == nil && sent < n {
			err = io.ErrUnexpectedEOF
		}
		return sent, err
	}
	if w.Flush(); w.broken {
		return 0, net.ErrClosed
	}
	sent, err := to.sendFile(f, off, n)
	w.left -= sent
	w.broken = err != nil
	return sent, err
}

// fileSender is a connection that sends n bytes of a file from off. It returns how many it
// has sent.
type fileSender interface {
	sendFile(f *os.File, off, n int64) (int64, error)
}

// Flush sends what is buffered.
func (w *response) Flush() {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	if err := w.buf.Flush(); err != nil {
		w.broken = true
	}
}

// finish ends the answer. One that is shorter than it was announced to be must
// not run into the next.
func (w *response) finish() error {
	if !w.wrote && !w.broken {
		w.header["Content-Length"] = []string{"0"}
		w.WriteHeader(http.StatusOK)
	}
	if w.chunked && !w.broken {
		w.write([]byte("0\r\n\r\n"))
	}
	if !w.chunked && w.left != 0 {
		w.broken = true
	}
	if w.broken {
		return net.ErrClosed
	}
	return w.buf.Flush()
}
