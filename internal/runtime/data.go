package runtime

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/control"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	dataHeadTime = 10 * time.Second // for the head of a request
	dataStopTime = 2 * time.Second  // for requests under way when the version stops
)

// dataServer serves a version's data to the daemon [D32]. Unlike the binding
// server it learns when a client has hung up.
type dataServer struct{ stop func() error }

// serveData listens on path, until Close. The socket is as private as its
// directory.
func serveData(ctx context.Context, path string, r Resources, log *slog.Logger) (*dataServer, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listening for the daemon: %w", err)
	}
	outlives := context.WithoutCancel(ctx) // the call that starts it
	requests, interrupt := context.WithCancel(outlives)
	server := &http.Server{
		Handler:           r.Data(func(w http.ResponseWriter, r *http.Request, err error) { tell(w, r, err, log) }),
		ReadHeaderTimeout: dataHeadTime, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return requests },
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.ErrorContext(outlives, "the data server ended", "error", err)
		}
	}()
	return &dataServer{func() error {
		interrupt()
		ctx, cancel := context.WithTimeout(outlives, dataStopTime)
		defer cancel()
		err := server.Shutdown(ctx)
		if err != nil {
			err = server.Close()
		}
		<-done
		return err
	}}, nil
}

// tell answers with an error. What is nobody's fault but ours is logged here,
// where its cause is known.
func tell(w http.ResponseWriter, r *http.Request, err error, log *slog.Logger) {
	if errors.Is(err, svc.Internal) || !errors.As(err, new(*svc.Error)) {
		log.ErrorContext(r.Context(), "a request for data failed", "method", r.Method, "error", err)
	}
	if err := control.WriteError(w, err); err != nil {
		log.DebugContext(r.Context(), "an answer was cut short", "error", err)
	}
}

// Close interrupts the requests under way, lets them answer, and removes the
// socket.
func (s *dataServer) Close() error { return s.stop() }
