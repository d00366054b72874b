package runtime

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// bindingServer serves a version's resources to its workerd.
type bindingServer struct {
	http *http.Server
	done chan struct{}
}

// serveBindings listens on path. The socket is as private as its directory.
func serveBindings(ctx context.Context, path string, h http.Handler, log *slog.Logger) (*bindingServer, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listening for bindings: %w", err)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	s := &bindingServer{done: make(chan struct{}), http: &http.Server{
		Handler: h, Protocols: protocols, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		ReadHeaderTimeout: time.Minute,
		MaxHeaderBytes:    1 << 20, // KV metadata and long keys travel in the head
	}}
	go func() {
		defer close(s.done)
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.ErrorContext(ctx, "the binding server ended", "error", err)
		}
	}()
	return s, nil
}

// Close ends the requests under way and removes the socket.
func (s *bindingServer) Close() error {
	err := s.http.Close()
	<-s.done
	return err
}
