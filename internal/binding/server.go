package binding

import (
	"errors"
	"net"
	"net/http"
)

// Server serves Instances to workerd on the version's private socket.
type Server struct{ http *http.Server }

// NewServer makes a server that passes requests to h, which is a Set.
func NewServer(h http.Handler) *Server {
	return &Server{&http.Server{Handler: h}} //nolint:gosec // one client, our own child
}

// Serve accepts connections from l until Close, and closes l.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close ends all connections. Serve returns.
func (s *Server) Close() error { return s.http.Close() }
