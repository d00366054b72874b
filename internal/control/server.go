package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/svcctl/svcctl/internal/svc"
)

// Handler does what a daemon asks of a host. Its methods run at the same time
// when asked so; a context ends when the daemon loses interest.
type Handler interface {
	Open(ctx context.Context, s Spec) error
	Prepare(ctx context.Context) (Prepared, error)
	Serve(ctx context.Context) (Ready, error)
	Ping(ctx context.Context) (Pong, error)
	Cut(ctx context.Context) (Cut, error)
	Archive(ctx context.Context, s Spec) error
	Stop(ctx context.Context, s Stop) error
}

// Server is the host's end of the line.
type Server struct {
	line *line

	mu      sync.Mutex // guards what follows
	cancels map[int64]context.CancelFunc
}

// NewServer takes conn.
func NewServer(conn net.Conn) *Server {
	return &Server{line: newLine(conn), cancels: map[int64]context.CancelFunc{}}
}

// Exited tells the daemon that workerd is gone.
func (s *Server) Exited(e Exit) error { return s.line.write(frame{Method: methodExited}, e) }

// Requested tells the daemon of requests that no Pong will: the host ends.
func (s *Server) Requested(list []Requests) error {
	if len(list) == 0 {
		return nil
	}
	return s.line.write(frame{Method: methodRequests}, list)
}

// Close ends the line: Serve returns.
func (s *Server) Close() error { return s.line.conn.Close() }

// Serve answers requests until the line ends, which is when the daemon is gone,
// and then returns nil at once: it ends the contexts of requests under way and
// waits for none of them.
func (s *Server) Serve(ctx context.Context, h Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for {
		f, err := s.line.read()
		if errors.Is(err, ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the control line: %w", err)
		}
		if f.Method == methodCancel {
			s.cancel(f.ID)
			continue
		}
		rctx, rcancel := context.WithCancel(ctx)
		s.mu.Lock()
		s.cancels[f.ID] = rcancel
		s.mu.Unlock()
		go func() {
			defer s.cancel(f.ID)
			s.answer(rctx, h, f)
		}()
	}
}

func (s *Server) cancel(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.cancels[id]; cancel != nil {
		cancel()
		delete(s.cancels, id)
	}
}

func (s *Server) answer(ctx context.Context, h Handler, f frame) {
	result, err := dispatch(ctx, h, f)
	answer := frame{ID: f.ID, Error: toFailure(err)}
	if err != nil {
		result = nil
	}
	_ = s.line.write(answer, result) // a daemon that is gone needs no answer
}

func dispatch(ctx context.Context, h Handler, f frame) (any, error) {
	switch f.Method {
	case methodOpen:
		return nil, withSpec(ctx, f, h.Open)
	case methodArchive:
		return nil, withSpec(ctx, f, h.Archive)
	case methodPrepare:
		return h.Prepare(ctx)
	case methodServe:
		return h.Serve(ctx)
	case methodPing:
		return h.Ping(ctx)
	case methodCut:
		return h.Cut(ctx)
	case methodStop:
		var stop Stop
		if err := json.Unmarshal(f.Body, &stop); err != nil {
			return nil, fmt.Errorf("reading the stop: %w", err)
		}
		return nil, h.Stop(ctx, stop)
	}
	return nil, svc.Errorf(svc.BadRequest, "unknown_method", "a runtime host does not know %q", f.Method)
}

func withSpec(ctx context.Context, f frame, do func(context.Context, Spec) error) error {
	var spec Spec
	if err := json.Unmarshal(f.Body, &spec); err != nil {
		return fmt.Errorf("reading the spec: %w", err)
	}
	return do(ctx, spec)
}
