package exchange

import (
	"context"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/route"
	"github.com/svcctl/svcctl/internal/svc"
)

// Service is what the requests of all engines share: the router, what is counted, and what
// makes responses.
type Service struct {
	*route.Router

	cfg   Config
	trust atomic.Pointer[trust]

	InFlight   atomic.Int64  // requests
	requests   atomic.Uint64 // that have ended
	websockets atomic.Int64

	faults      chan struct{} // one element per request that looks for its exception
	compressors compressors
	contents    contents
}

// Config configures a service, in the words of gateway.Config.
type Config struct {
	Logger    *slog.Logger
	Observer  Observer
	Access    func(Access)
	Sampled   func(trace []byte) bool
	Locate    func(netip.Addr) svc.Location
	Exception func(ctx context.Context, ref svc.Ref, id string, since time.Time) string
	Compress  bool
}

// New returns a service. SetTrustedProxies is called before its first request.
func New(r *route.Router, cfg Config) *Service {
	return &Service{Router: r, cfg: cfg, faults: make(chan struct{}, maxFaults)}
}

// Requests is the number of requests that have ended since the start of the gateway.
func (s *Service) Requests() uint64 { return s.requests.Load() }

// Websockets is the number of open websockets.
func (s *Service) Websockets() int { return int(s.websockets.Load()) }
