package route

import (
	"crypto/subtle"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/gate"
	"github.com/svcctl/svcctl/internal/edge/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

// Request is what the route of a request depends on, and its result: the claim of a runtime,
// or the answer of the static files.
type Request struct {
	Req    http1.Request
	Start  time.Time
	Call   *svc.Ref // of a call of another worker; nil for a visitor's request
	InLoop bool     // it may not wait for a disk: Take returns ErrBlocks instead
	Hints  Hints
	Claim  Claim
	Static Static
}

// Hints are the fields of a request's head that its route depends on.
type Hints struct {
	Target    []byte // of the request as the client sent it, if it may have a path selector
	Verify    []byte // VerifyHeader
	Route     []byte // RouteHeader
	Encodings []byte // Accept-Encoding
	Doctor    bool   // the request has svc.DoctorHeader
}

// count counts the request as one in flight, until its claim is released.
func (x *Request) count() {
	x.Claim.counted = true
	stats := x.Claim.Version.stats.of(x.Claim.Role)
	stats.inflight.Add(1)
	stats.last.Store(x.Start.UnixNano())
}

// knows reports whether the request carries the secret.
func (x *Request) knows(secret svc.Secret) bool {
	return secret != "" && subtle.ConstantTimeCompare(x.Hints.Verify, []byte(secret.Reveal())) == 1
}

// Claim is the use of a runtime by a request.
type Claim struct {
	Version  *Version
	Upstream *Upstream   // nil if no runtime is claimed
	counted  bool        // in the stats of the version
	epoch    *gate.Epoch // of the production host
	via      string      // the preview name that the host is of; "" for none
	Role     svc.Role
	Selector bool // found by a deprecated path selector [D4]
}

// Ref names the version; it is zero if none was found.
func (cl *Claim) Ref() svc.Ref {
	if cl.Version == nil {
		return svc.Ref{}
	}
	return cl.Version.Ref
}

// Release ends the claim. It may be called again.
func (cl *Claim) Release() {
	if cl.counted {
		cl.Version.stats.of(cl.Role).inflight.Add(-1)
		cl.counted = false
	}
	if cl.Upstream != nil {
		cl.Upstream.Release()
		cl.Upstream = nil
	}
	if cl.epoch != nil {
		cl.epoch.Answered()
	}
	cl.Leave()
}

// Leave ends the membership in the production host's epoch.
func (cl *Claim) Leave() {
	if cl.epoch != nil {
		cl.epoch.Release()
		cl.epoch = nil
	}
}

// mayChange reports whether the method of a visitor's request allows it to change something. The
// calls of other workers are connections, so they pass: what they write is refused by the bindings.
func (x *Request) mayChange() bool {
	if x.Call != nil {
		return false
	}
	switch string(x.Req.Method) {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return true
}
