package gateway

import (
	"crypto/subtle"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/edge/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

// RouteRequest is what the route of a request depends on, and its result: the claim of a runtime,
// or the answer of the static files.
type RouteRequest struct {
	req    http1.Request
	start  time.Time
	call   *svc.Ref // of a call of another worker; nil for a visitor's request
	inLoop bool     // it may not wait for a disk: take returns errBlocks instead
	hints  hints
	claim  claim
	static static
}

// hints are the fields of a request's head that its route depends on.
type hints struct {
	target    []byte // of the request as the client sent it, if it may have a path selector
	verify    []byte // VerifyHeader
	route     []byte // RouteHeader
	encodings []byte // Accept-Encoding
	doctor    bool   // the request has svc.DoctorHeader
}

// count counts the request as one in flight, until its claim is released.
func (x *RouteRequest) count() {
	x.claim.counted = true
	stats := x.claim.version.stats.of(x.claim.role)
	stats.inflight.Add(1)
	stats.last.Store(x.start.UnixNano())
}

// knows reports whether the request carries the secret.
func (x *RouteRequest) knows(secret svc.Secret) bool {
	return secret != "" && subtle.ConstantTimeCompare(x.hints.verify, []byte(secret.Reveal())) == 1
}

// claim is the use of a runtime by a request.
type claim struct {
	version  *version
	upstream *upstream // nil if no runtime is claimed
	counted  bool      // in the stats of the version
	epoch    *epoch    // of the production host
	via      string    // the preview name that the host is of; "" for none
	role     svc.Role
	selector bool // found by a deprecated path selector [D4]
}

func (cl *claim) ref() svc.Ref {
	if cl.version == nil {
		return svc.Ref{}
	}
	return cl.version.ref
}

// release ends the claim. It may be called again.
func (cl *claim) release() {
	if cl.counted {
		cl.version.stats.of(cl.role).inflight.Add(-1)
		cl.counted = false
	}
	if cl.upstream != nil {
		cl.upstream.release()
		cl.upstream = nil
	}
	if cl.epoch != nil {
		cl.epoch.answered()
	}
	cl.leave()
}

// leave ends the membership in the production host's epoch.
func (cl *claim) leave() {
	if cl.epoch != nil {
		cl.epoch.release()
		cl.epoch = nil
	}
}

// mayChange reports whether the method of a visitor's request allows it to change something. The
// calls of other workers are connections, so they pass: what they write is refused by the bindings.
func (x *RouteRequest) mayChange() bool {
	if x.call != nil {
		return false
	}
	switch string(x.req.Method) {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return true
}
