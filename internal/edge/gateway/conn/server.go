package conn

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/lib/clientlimit"
)

// Server is what the connections of all engines share: their limits and their number.
type Server struct {
	*exchange.Service

	Config    Config
	Running   sync.WaitGroup // connections, and each Serve of the gateway
	Connected func()         // is called for each new connection. It does not block
	MakeRoom  func() bool    // of the engine: closes a connection without a request, and reports whether it found one

	clients  *clientlimit.Gate // counts the clients' connections
	refusals chan struct{}     // one element per refused connection that is answered
	warned   atomic.Int64      // unix nanoseconds of the last warning about refused connections
}

// Config are the limits of connections, in the words of gateway.Config.
type Config struct {
	Logger *slog.Logger

	IdleTimeout   time.Duration
	HeaderTimeout time.Duration
	ProbeTime     time.Duration
	ClientTimeout time.Duration
	LingerTime    time.Duration
	MaxHeader     int

	MaxConns          int
	MaxConnsPerClient int
}

// NewServer returns a server, which calls connected for each new connection.
func NewServer(s *exchange.Service, cfg Config, connected func()) *Server {
	return &Server{
		Service: s, Config: cfg, Connected: connected, refusals: make(chan struct{}, maxRefusals),
		clients: clientlimit.NewGate(clientlimit.Caps{Total: cfg.MaxConns, PerClient: cfg.MaxConnsPerClient}),
	}
}
