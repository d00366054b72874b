package gateway

import (
	"github.com/svcctl/svcctl/internal/server/gateway/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// DoctorHeader marks a request that the gateway answers by itself on every host, with
	// 404 and SeenHeader: by it, svcctl doctor learns what a proxy passes on.
	DoctorHeader = "Svc-Doctor"
	// SeenHeader says what the gateway saw of such a request, in this form:
	// "proto=https client=192.0.2.1 upgrade=websocket". The last part is there for the
	// handshake of a websocket only.
	SeenHeader = "Svc-Seen"
)

// isDoctor reports whether a field is DoctorHeader.
func isDoctor(f *http1.Field) bool { return http1.EqualFold(f.Name, "svc-doctor") }

// see notes what the gateway saw of a request with DoctorHeader.
func (x *request) see(p *peer) {
	proto := "http"
	if x.meta.https {
		proto = "https"
	}
	x.meta.seen = "proto=" + proto + " client=" + string(x.clientAddress(p))
	if x.req.IsWebSocket() {
		x.meta.seen += " upgrade=websocket"
	}
}

func errDoctor() *svc.Error {
	return svc.Errorf(svc.NotFound, svc.CodeRouteNotFound, "the gateway answers requests with the header %s by itself", DoctorHeader)
}
