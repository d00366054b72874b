package exchange

import "github.com/svcctl/svcctl/internal/edge/http1"

// isDoctor reports whether a field is svc.DoctorHeader.
func isDoctor(f *http1.Field) bool { return http1.EqualFold(f.Name, "svc-doctor") }

// see notes what the gateway saw of a request with svc.DoctorHeader.
func (x *Request) see(p *Peer) {
	proto := "http"
	if x.meta.https {
		proto = "https"
	}
	x.meta.seen = "proto=" + proto + " client=" + string(x.clientAddress(p))
	if x.Req.IsWebSocket() {
		x.meta.seen += " upgrade=websocket"
	}
}
