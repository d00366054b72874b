package gateway

import (
	"context"
	"net/netip"

	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
)

// Inflight is the number of requests that are in progress or held, without
// websockets.
func (g *Gateway) Inflight() int { return int(g.service.InFlight.Load()) }

// Requests is the number of requests that have ended since the start of the gateway.
func (g *Gateway) Requests() uint64 { return g.service.Requests() }

// Websockets is the number of open websockets.
func (g *Gateway) Websockets() int { return g.service.Websockets() }

// Connections is the number of open connections of clients.
func (g *Gateway) Connections() int { return g.server.Connections() }

// Call connects a worker with the runtime of another one: see Service.Call.
func (g *Gateway) Call(ctx context.Context, project, version string) (*exchange.Call, error) {
	return g.service.Call(ctx, project, version)
}

// SetTrustedProxies replaces Config.TrustedProxies and Config.LocationHeaders for
// connections that begin later.
func (g *Gateway) SetTrustedProxies(proxies []netip.Prefix, location bool) {
	g.service.SetTrustedProxies(proxies, location)
}
