package workerhost

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/lib/peer"
)

// bindingServer serves a version's resources to its workerd.
type bindingServer struct {
	server *binding.Server
	done   chan struct{}
}

// serveBindings listens on path, until Close, for the workerd that this host has started.
func serveBindings(ctx context.Context, path string, h http.Handler, log *slog.Logger) (*bindingServer, error) {
	l, err := peer.Listen(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("listening for bindings: %w", err)
	}
	l = peer.Only(l, os.Getpid(), func(pid int) {
		log.WarnContext(ctx, "refused a connection to the bindings: it is not from the version's workerd", "pid", pid)
	})
	s := &bindingServer{server: binding.NewServer(h, log), done: make(chan struct{})}
	ctx = context.WithoutCancel(ctx) // it outlives the call that starts it
	go func() {
		defer close(s.done)
		if err := s.server.Serve(ctx, l); err != nil {
			log.ErrorContext(ctx, "the binding server ended", "error", err)
		}
	}()
	return s, nil
}

// Close ends the requests under way and removes the socket.
func (s *bindingServer) Close() error {
	s.server.Close()
	<-s.done
	return nil
}
