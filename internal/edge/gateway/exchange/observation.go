package exchange

import (
	"context"
	"log/slog"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/route"
	"github.com/svcctl/svcctl/internal/svc"
)

// Observer receives the events that metrics count [D31]. Its methods are called on
// the request's goroutine and must not block.
type Observer interface {
	// ObserveRequest is called once for each answered or abandoned request; for
	// a websocket, at the end of its handshake.
	ObserveRequest(Observation)
	// ObserveWebsocket is called with +1 when a websocket opens and with -1 when it
	// closes.
	ObserveWebsocket(ref svc.Ref, role svc.Role, delta int)
}

// Observation describes one request. Ref is zero and Role "" if no version was
// found; Status is 499 if the client closed its connection before the response.
// The slices are valid during the call.
type Observation struct {
	Ref      svc.Ref
	Role     svc.Role
	Status   int
	Error    string // the gateway's own error code; "" for a response of the worker
	Threw    bool   // the worker threw and did not answer
	Start    time.Time
	Duration time.Duration
	Bytes    int64  // of the response's body as sent, compressed or not, without the frames of chunks
	ID       []byte // names the request: the parent in its traceparent
	Trace    []byte // of a request whose trace is recorded: its id; nil for others
	Parent   []byte // its parent in Trace, nil for none
	ClientID []byte // the X-Request-Id that the client sent, nil for none
	Method   []byte // empty for a head that cannot be read
	Target   []byte // as sent
	// Forwarded says that the response is from another gateway, which observes the request too.
	Forwarded bool
}

// Invocation is the entry of the log about the request, with names but no values of its
// query.
func (o *Observation) Invocation() svc.Invocation {
	outcome := svc.OutcomeOK
	switch {
	case o.Status == StatusClientGone:
		outcome = svc.OutcomeCanceled
	case o.Error != "":
		outcome = svc.OutcomeRefused
	}
	return svc.Invocation{
		Kind: svc.LogRequest, Method: string(o.Method), Path: svc.HideQuery(string(o.Target)), Status: o.Status, Outcome: string(outcome),
		Error: o.Error, Role: o.Role, ClientID: string(o.ClientID), Duration: o.Duration,
	}
}

// Access is an Observation with what an access log has besides. The slices are valid during
// the call.
type Access struct {
	Observation

	Client  []byte // address of the visitor; of a trusted proxy's X-Forwarded-For
	Host    []byte
	Minor   int // of the request's HTTP/1 version
	Referer []byte
	Agent   []byte
}

// StatusClientGone is the status of a request whose client closed its connection before
// the response.
const StatusClientGone = 499

// Account observes and logs a finished request.
func (s *Service) Account(ctx context.Context, x *Request, p *Peer, now time.Time) {
	took := now.Sub(x.Start)
	s.requests.Add(1)
	if s.cfg.Observer != nil {
		s.observe(x.observation(took))
	}
	if s.cfg.Access != nil {
		s.cfg.Access(x.access(took, p))
	}
	if !s.cfg.Logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	ref := x.Claim.Ref()
	s.cfg.Logger.DebugContext(ctx, "request",
		"method", string(x.Req.Method), "host", string(x.Req.Host), "project", ref.Project, "version", ref.Version,
		"role", string(x.Claim.Role), "status", x.Status, "error", x.ErrCode, "duration", took,
		"peer", p.IP, "request_id", string(x.meta.id))
}

// observation describes the finished request.
func (x *Request) observation(took time.Duration) Observation {
	o := Observation{
		Ref: x.Claim.Ref(), Role: x.Claim.Role, Status: x.Status, Error: x.ErrCode, Threw: x.failed, Start: x.Start, Duration: took, Bytes: x.Sent,
		ID: x.meta.traceparent[parentAt:parentEnd], Method: x.Req.Method, Target: x.path(),
		Forwarded: x.Claim.Version != nil && x.Claim.Version.State.Through && x.ErrCode == "",
	}
	if x.meta.sampled {
		o.Trace = x.meta.traceparent[traceAt:traceEnd]
		if !x.meta.newTrace {
			o.Parent = x.meta.parent[:]
		}
	}
	if x.meta.named {
		o.ClientID = x.meta.id
	}
	return o
}

// access describes the finished request for an access log.
func (x *Request) access(took time.Duration, p *Peer) Access {
	return Access{
		Observation: x.observation(took), Client: x.clientAddress(p), Host: x.Req.Host, Minor: x.Req.Minor,
		Referer: x.Req.Get("referer"), Agent: x.Req.Get("user-agent"),
	}
}

// observe reports a finished request.
func (s *Service) observe(o Observation) {
	if s.cfg.Observer != nil {
		s.cfg.Observer.ObserveRequest(o)
	}
}

func (s *Service) observeWebsocket(ref svc.Ref, role svc.Role, delta int) {
	s.websockets.Add(int64(delta))
	if s.cfg.Observer != nil {
		s.cfg.Observer.ObserveWebsocket(ref, role, delta)
	}
}

// OpenWebsocket makes cl the claim of an open websocket, which e ends. It must be called before
// the claim ends, else a retire in between would miss the websocket.
func (s *Service) OpenWebsocket(w *route.Websocket, cl *route.Claim, e route.Ender) {
	w.Open(cl, e)
	s.observeWebsocket(w.Ref(), w.Role, +1)
	if w.Upstream.IsClosed() || s.IsClosing() {
		e.End() // the runtime was retired while the websocket opened
	}
}

// CloseWebsocket ends what OpenWebsocket began.
func (s *Service) CloseWebsocket(w *route.Websocket) {
	w.Close()
	s.observeWebsocket(w.Ref(), w.Role, -1)
}
