package binding

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/data/volume"
)

const (
	readBuffer  = 8 << 10
	writeBuffer = 8 << 10
	maxHead     = 1 << 20 // bytes of a request's line and headers
)

// Server serves Instances to workerd on the version's private socket: HTTP/1.1
// with connections kept open, and nothing that only unknown clients need. It takes
// two thirds of the CPU time of net/http's server (ADR 9), and keeps three
// promises for handlers: the body is read to its end before a short answer
// goes out, a reason phrase can be set (StatusWriter), and Close waits.
//
// A request's context ends with Close, and soon after workerd closes the
// connection: that is how a worker's cancellation, and its end, reach a handler.
// Writes with it are those of the worker: volume.ByWorker.
type Server struct {
	handler http.Handler
	logger  *slog.Logger
	running sync.WaitGroup

	mu     sync.Mutex // guards what follows
	conns  map[net.Conn]struct{}
	stop   func() // ends Serve and the contexts of requests
	closed bool
}

// NewServer makes a server that passes requests to h, which is a Set.
func NewServer(h http.Handler, logger *slog.Logger) *Server {
	return &Server{handler: h, logger: logger, conns: map[net.Conn]struct{}{}}
}

// Serve accepts connections from l until Close, and closes l. It is called
// once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(volume.ByWorker(ctx))
	defer cancel()
	if !s.start(func() { cancel(); _ = l.Close() }) {
		return l.Close()
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			if s.isClosed() {
				return nil
			}
			return err
		}
		if !s.add(conn) {
			_ = conn.Close()
			continue
		}
		go func() {
			defer s.remove(conn)
			s.serve(ctx, quicken(conn))
		}()
	}
}

func (s *Server) start(stop func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = stop
	return !s.closed
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *Server) add(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[conn] = struct{}{}
	s.running.Add(1)
	return true
}

func (s *Server) remove(conn net.Conn) {
	_ = conn.Close()
	s.mu.Lock()
	delete(s.conns, conn)
	s.mu.Unlock()
	s.running.Done()
}

// Close interrupts what runs, ends all connections and waits. Serve returns.
// Closing twice is harmless.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	if s.stop != nil {
		s.stop()
	}
	for conn := range s.conns {
		_ = conn.SetReadDeadline(time.Unix(1, 0)) // an answer under way may still go out
	}
	s.mu.Unlock()
	s.running.Wait()
}

// serve answers the requests of one connection, one after another.
func (s *Server) serve(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := watchHangup(conn, cancel)
	head := &io.LimitedReader{R: conn}
	r := bufio.NewReaderSize(head, readBuffer)
	w := &response{conn: conn, buf: bufio.NewWriterSize(conn, writeBuffer)}
	for {
		head.N = maxHead
		req, err := http.ReadRequest(r)
		if err != nil {
			return // the end of the connection, or invalid HTTP: no response is possible
		}
		head.N = 1<<63 - 1
		req = req.WithContext(ctx)
		w.reset(req)
		watch.begin()
		s.handle(w, req)
		watch.end()
		if err := w.finish(); err != nil || w.broken || req.Close {
			return
		}
	}
}

// handle runs the handler. One that panics breaks its own connection only.
func (s *Server) handle(w *response, r *http.Request) {
	ctx := r.Context()
	defer func() {
		if v := recover(); v != nil {
			s.logger.ErrorContext(ctx, "a binding panicked", "binding", r.Header.Get(RouteHeader), "method", r.Method, "panic", v, "stack", string(debug.Stack()))
			w.broken = true
		}
	}()
	s.handler.ServeHTTP(w, r)
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		w.broken = true
	}
}
