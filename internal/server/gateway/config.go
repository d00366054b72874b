package gateway

import (
	"cmp"
	"log/slog"
	"net/netip"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Defaults of Config.
const (
	// DefaultHoldTimeout is how long a request waits for a cut-over [D20].
	DefaultHoldTimeout = 10 * time.Second
	// DefaultStartWait is how long a request waits for a runtime that is
	// starting again: a restart takes some 50 ms, a slow one a second.
	DefaultStartWait = 2 * time.Second
	// DefaultIdleTimeout ends connections without requests.
	DefaultIdleTimeout = 2 * time.Minute
	// DefaultHeaderTimeout is how long a head may take from its first byte on.
	DefaultHeaderTimeout = 15 * time.Second
	// DefaultMaxHeld bounds the requests that wait, over all projects.
	DefaultMaxHeld = 4096
	// DefaultMaxHeader bounds a request's head. workerd takes about 500 KB.
	DefaultMaxHeader = 128 << 10
)

// VerifyHeader carries Config.VerifySecret: the request may then reach a
// version that is not ready yet. The header never reaches a worker.
const VerifyHeader = "X-Svc-Verify"

// Config is what a gateway needs. Only Ingress is required; zero values stand
// for the defaults.
type Config struct {
	Ingress      *svc.Ingress
	Engine       Engine
	Logger       *slog.Logger
	Observer     Observer
	VerifySecret svc.Secret // "" lets nobody reach a version that is not ready
	// TrustedProxies are the peers whose X-Forwarded-* and Forwarded headers are
	// believed and extended; everybody else's are replaced [D45]. Nil trusts
	// loopback: there, it is a TLS proxy of this machine or a local user.
	TrustedProxies []netip.Prefix

	HoldTimeout   time.Duration
	StartWait     time.Duration
	IdleTimeout   time.Duration
	HeaderTimeout time.Duration
	MaxHeld       int
	MaxHeader     int // bytes
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.TrustedProxies == nil {
		c.TrustedProxies = []netip.Prefix{
			netip.PrefixFrom(netip.AddrFrom4([4]byte{127}), 8), netip.PrefixFrom(netip.IPv6Loopback(), 128),
		}
	}
	c.Engine = cmp.Or(c.Engine, EngineGo)
	c.HoldTimeout = cmp.Or(c.HoldTimeout, DefaultHoldTimeout)
	c.StartWait = cmp.Or(c.StartWait, DefaultStartWait)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, DefaultIdleTimeout)
	c.HeaderTimeout = cmp.Or(c.HeaderTimeout, DefaultHeaderTimeout)
	c.MaxHeld = cmp.Or(c.MaxHeld, DefaultMaxHeld)
	c.MaxHeader = cmp.Or(c.MaxHeader, DefaultMaxHeader)
	return c
}

// Observer is told what happens, for metrics [D31]. Its methods are called on
// the request's goroutine and must return at once.
type Observer interface {
	// ObserveRequest is called once for each answered or abandoned request. For
	// a websocket that is when its handshake is over.
	ObserveRequest(Observation)
	// ObserveWebsocket is called with +1 and -1.
	ObserveWebsocket(ref svc.Ref, role svc.Role, delta int)
}

// Observation is one request. Ref is zero and Role "" when no version was
// found; Status is 499 when the client left before an answer.
type Observation struct {
	Ref      svc.Ref
	Role     svc.Role
	Status   int
	Error    string // the gateway's own error code, "" for an answer of the worker
	Duration time.Duration
}
