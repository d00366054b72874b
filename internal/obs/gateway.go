package obs

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svcctl/svcctl/internal/svc"
)

// GatewaySources are read at each scrape of a gateway on another machine than the server. Every
// field is required.
type GatewaySources struct {
	Inflight, Websockets, Connections func() int64
	Generation                        func() uint64
	Age                               func() time.Duration // since the server was lost; 0 with one
	Direct, Server                    func() uint64        // requests by the way that they took
}

// WatchGateway adds the gauges of s. Call it once, in place of Watch.
func (m *Metrics) WatchGateway(s GatewaySources) {
	for name, f := range map[string]func() int64{
		"svc_gateway_inflight": s.Inflight, "svc_gateway_websockets": s.Websockets, "svc_gateway_connections": s.Connections,
	} {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: gatewayHelp[name]}, func() float64 { return float64(f()) }))
	}
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "svc_gateway_generation", Help: "Generation of the routes of a gateway on another machine."},
			func() float64 { return float64(s.Generation()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "svc_gateway_routes_age_seconds", Help: "Time since a gateway on another machine lost the server; 0 with a connection."},
			func() float64 { return s.Age().Seconds() }),
	)
	for way, f := range map[string]func() uint64{"direct": s.Direct, "server": s.Server} {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "svc_gateway_ways_total", Help: "Requests of a gateway on another machine by the way to the version: direct to its machine, or through the server.",
			ConstLabels: prometheus.Labels{"way": way},
		}, func() float64 { return float64(f()) }))
	}
}

// WatchGateways adds the gauges of a server that lets gateways on other machines in. list is
// read at each scrape.
func (m *Metrics) WatchGateways(list func() []svc.Gateway) {
	of := func(value func(*svc.Gateway) float64, join func(a, b float64) float64) func() float64 {
		return func() (sum float64) {
			for _, g := range list() {
				if !g.Own {
					sum = join(sum, value(&g))
				}
			}
			return sum
		}
	}
	add := func(a, b float64) float64 { return a + b }
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "svc_gateways_connected", Help: "Gateways on other machines that the server hears of."},
			of(func(g *svc.Gateway) float64 { return is(g.Connected) }, add)),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "svc_gateways_away", Help: "Gateways on other machines that were connected within an hour and are not."},
			of(func(g *svc.Gateway) float64 { return is(!g.Connected) }, add)),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "svc_gateways_behind", Help: "Changes of routes that the slowest connected gateway on another machine had not reported to have."},
			of(func(g *svc.Gateway) float64 { return is(g.Connected) * float64(g.Behind) }, func(a, b float64) float64 { return max(a, b) })),
	)
}

func is(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// gatewayHelp are the help texts that a gateway shares with a server.
var gatewayHelp = map[string]string{ //nolint:gochecknoglobals // constants
	"svc_gateway_inflight":    "Requests in flight in the gateway.",
	"svc_gateway_connections": "Open connections of clients to the gateway.",
	"svc_gateway_websockets":  "Open websockets of the gateway.",
}
