package gateway

import (
	"github.com/svcctl/svcctl/internal/edge/gateway/route"

	"context"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Service is what the requests of all engines share: the router, what is counted, and what
// makes responses.
type Service struct {
	*route.Router

	cfg   ServiceConfig
	trust atomic.Pointer[trust]

	InFlight   atomic.Int64  // requests
	requests   atomic.Uint64 // that have ended
	websockets atomic.Int64

	faults      chan struct{} // one element per request that looks for its exception
	compressors compressors
	contents    contents
}

// ServiceConfig configures a service, in the words of gateway.Config.
type ServiceConfig struct {
	Logger    *slog.Logger
	Observer  Observer
	Access    func(Access)
	Sampled   func(trace []byte) bool
	Locate    func(netip.Addr) svc.Location
	Exception func(ctx context.Context, ref svc.Ref, id string, since time.Time) string
	Compress  bool
}

// NewService returns a service. SetTrustedProxies is called before its first request.
func NewService(r *route.Router, cfg ServiceConfig) *Service {
	return &Service{Router: r, cfg: cfg, faults: make(chan struct{}, maxFaults)}
}

// Requests is the number of requests that have ended since the start of the gateway.
func (s *Service) Requests() uint64 { return s.requests.Load() }

// Websockets is the number of open websockets.
func (s *Service) Websockets() int { return int(s.websockets.Load()) }
