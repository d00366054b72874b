package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// dataHost is the host of requests for data: their paths are the version's own.
const dataHost = "data"

// Server is the host's end of the line.
type Server struct {
	conn    net.Conn
	log     *slog.Logger
	notices *notices
}

// NewServer takes conn.
func NewServer(conn net.Conn, log *slog.Logger) *Server {
	return &Server{conn: conn, log: log, notices: newNotices()}
}

// Tell gives n to the daemon and returns when the daemon has heard it: the host may
// exit then. It fails when the line has ended, and after a few seconds.
func (s *Server) Tell(n Notice) error { return s.notices.tell(n) }

// Close ends the line: Serve returns.
func (s *Server) Close() error { return s.conn.Close() }

// Serve answers requests until the line ends, which means that the daemon is gone,
// and returns nil. It ends the contexts of the requests under way and waits for
// none of them. ctx is the parent of their contexts. Call it once.
func (s *Server) Serve(ctx context.Context, h Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.notices.end()
	l := newSingle(s.conn)
	server := &http.Server{ //nolint:gosec // the one client is the daemon: no request needs a limit
		Handler: s.route(h), Protocols: h2(), HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxRequests, MaxReceiveBufferPerConnection: uploadWindow, MaxReceiveBufferPerStream: bodyWindow,
		},
		ErrorLog:    slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				_ = l.Close()
			}
		},
	}
	if err := server.Serve(l); !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("serving the control line: %w", err)
	}
	return nil
}

func (s *Server) route(h Handler) http.HandlerFunc {
	calls := verbs(h)
	if m, ok := h.(Machine); ok {
		maps.Copy(calls, machineVerbs(m))
	}
	calls[nextNotice] = verb(s.notices.next)
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Host == dataHost {
			h.Data(w, r)
			return
		}
		do := calls[strings.TrimPrefix(r.URL.Path, "/")]
		if do == nil {
			_ = WriteError(w, svc.Errorf(svc.BadRequest, svc.CodeUnknownMethod, "a runtime host does not know %q", r.URL.Path))
			return
		}
		do(w, r)
	}
}
