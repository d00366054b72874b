package edgemain

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/edge/routefeed"
	"github.com/svcctl/svcctl/internal/obs"
	"github.com/svcctl/svcctl/internal/svc"
)

// observer counts requests and reports them to the server, which logs them.
type observer struct {
	metrics *obs.Metrics
	client  *routefeed.Client
}

// ObserveRequest implements gateway.Observer.
func (m observer) ObserveRequest(o gateway.Observation) {
	m.metrics.GatewayRequest(string(o.Role), o.Status, o.Duration)
	if o.Forwarded {
		m.client.Counted()
		return
	}
	m.client.Finished(routefeed.Request{
		Ref: o.Ref, Role: o.Role, Status: o.Status, Error: o.Error, Threw: o.Threw, Start: o.Start, Duration: o.Duration, Bytes: o.Bytes,
		ID: string(o.ID), Trace: string(o.Trace), Parent: string(o.Parent), ClientID: string(o.ClientID), Method: string(o.Method), Target: string(o.Target),
	})
}

// ObserveWebsocket does nothing: the number of open websockets is read for each report.
func (observer) ObserveWebsocket(svc.Ref, svc.Role, int) {}

// numbers are the gateway's own in a report.
func (e *Edge) numbers() (r routefeed.Report) {
	r.Listens, _ = e.Addr()
	if g := e.current(); g != nil {
		r.Inflight, r.Websockets = g.Inflight(), g.Websockets()
	}
	return r
}

// watch adds gauges to the metrics.
func (e *Edge) watch() {
	of := func(f func(*gateway.Gateway) int) func() int64 {
		return func() int64 {
			if g := e.current(); g != nil {
				return int64(f(g))
			}
			return 0
		}
	}
	way := func(choose func(direct, server uint64) uint64) func() uint64 {
		return func() uint64 {
			if g := e.current(); g != nil {
				return choose(g.Ways())
			}
			return 0
		}
	}
	e.metrics.WatchGateway(obs.GatewaySources{
		Inflight: of((*gateway.Gateway).Inflight), Websockets: of((*gateway.Gateway).Websockets), Connections: of((*gateway.Gateway).Connections),
		Generation: e.table.Generation,
		Age: func() time.Duration {
			if s := e.client.State(); !s.Connected {
				return time.Since(s.Since)
			}
			return 0
		},
		Direct: way(func(direct, _ uint64) uint64 { return direct }), Server: way(func(_, server uint64) uint64 { return server }),
	})
}

// Ready is the answer of /ready.
type Ready struct {
	Status string `json:"status"` // "ok", "stale" without a server, or "starting" before the first routes
	routefeed.ClientState
}

// Ready says whether the gateway serves, and how old its routes are.
func (e *Edge) Ready() Ready {
	r := Ready{Status: "ok", ClientState: e.client.State()}
	switch {
	case r.Generation == 0:
		r.Status = "starting"
	case !r.Connected:
		r.Status = "stale"
	}
	return r
}

// statusHandler serves metrics, and for load balancers whether the gateway serves. With old
// routes it does: all gateways lose a server together.
func (e *Edge) statusHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", e.metrics.Handler())
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		r := e.Ready()
		w.Header().Set("Content-Type", "application/json")
		if r.Status == "starting" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(r) // its client has gone
	})
	return mux
}
