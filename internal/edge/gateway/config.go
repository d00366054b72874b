package gateway

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
	"github.com/svcctl/svcctl/internal/svc"
)

// Defaults of Config.
const (
	// DefaultHoldTimeout is the time limit for a request that waits for a promote [D20],
	// or for a version that sleeps.
	DefaultHoldTimeout = 10 * time.Second
	// DefaultStartWait is the time limit for a request that waits for a runtime
	// that restarts: a restart takes about 50 ms, a slow one a second.
	DefaultStartWait = 2 * time.Second
	// DefaultIdleTimeout is the time limit for a connection without a request.
	DefaultIdleTimeout = 2 * time.Minute
	// DefaultHeaderTimeout is the time limit for a head, from its first byte.
	DefaultHeaderTimeout = 15 * time.Second
	// DefaultProbeTime is the time between a client's end of input and the first test
	// whether the client still reads the response.
	DefaultProbeTime = time.Second
	// DefaultClientTimeout is the time without a byte after which a client is
	// disconnected that sends a body or reads a response, and the time limit for the
	// handshake of a websocket.
	DefaultClientTimeout = time.Minute
	// DefaultLingerTime is the time without a byte after which the rest of a body is no longer
	// read that a response did not need.
	DefaultLingerTime = 5 * time.Second
	// DefaultFreshTime is how long Shutdown waits for the first request of a connection
	// that was accepted before: its client may have sent it.
	DefaultFreshTime = 250 * time.Millisecond
	// DefaultSweepEvery is the time between two searches for idle and slow connections, by
	// which a time limit is exceeded at most.
	DefaultSweepEvery = time.Second
	// DefaultMaxConns is the maximum number of connections of all clients.
	DefaultMaxConns = 16384
	// DefaultMaxConnsPerClient is the maximum number of connections of one address.
	DefaultMaxConnsPerClient = 1024
	// DefaultMaxConnsPerVersion is the maximum number of requests and websockets that
	// the runtime of one version serves at the same time.
	DefaultMaxConnsPerVersion = 4096
	// DefaultMaxHeld is the maximum number of waiting requests of all projects.
	DefaultMaxHeld = 4096
	// DefaultMaxHeader is the maximum size of a request's head, in bytes. workerd
	// accepts about 500 KB.
	DefaultMaxHeader = 128 << 10
)

// VerifyHeader is the header for Config.VerifySecret: a request with the secret
// may reach a version that is not ready yet. The header never reaches a worker.
const VerifyHeader = "X-Svc-Verify"

// RouteHeader names the version that a request is for, as "project/version",
// whatever its host is. It counts beside a VerifyHeader with the secret only, and
// never reaches a worker.
const RouteHeader = "X-Svc-Route"

// Config configures a gateway. Only Ingress is required; a zero value selects the
// default, of Engine the event loops.
type Config struct {
	Ingress  *svc.Ingress
	Engine   Engine
	Logger   *slog.Logger
	Observer exchange.Observer
	// Sampled reports whether a trace that begins at the gateway is recorded; trace is its id,
	// 32 hex digits. nil: no trace is, and Observer gets no Trace.
	Sampled func(trace []byte) bool
	// Access hears of each request that Observer hears of, like it; nil for none.
	Access       func(exchange.Access)
	VerifySecret svc.Secret // "": no request reaches a version that is not ready
	// TrustedProxies are the peers whose X-Forwarded-* and Forwarded headers are
	// believed and extended; those of all other peers are replaced [D45]. Nil
	// trusts loopback addresses: a TLS proxy or a user of this machine.
	TrustedProxies []netip.Prefix
	// LocationHeaders says that CF-IPCountry and the like of the trusted proxies are
	// believed. Those of all other peers never reach a worker.
	LocationHeaders bool
	// Locate says where an address is; nil knows nothing. It is called for each
	// request, by many goroutines.
	Locate func(netip.Addr) svc.Location

	// PublicHost is the host name of GATEWAY_URL, where path selectors work, as they
	// do on IP addresses and localhost [D4]; "" for none.
	PublicHost string

	// Asked is called for each request that is refused because its version is
	// restarted after a wait. It must not block. May be nil.
	Asked func(ref svc.Ref)

	// Rouse is called for a request to a version that sleeps: it starts the runtime, or
	// changes the state of the version. It must not block. Nil starts nothing.
	Rouse func(ref svc.Ref)

	// Exception returns the exception, with its stack, that the worker of ref threw in the
	// request of this id, which began at since; "" if it is not known before ctx ends.
	// Preview hosts show it. Nil shows "Internal Server Error".
	Exception func(ctx context.Context, ref svc.Ref, id string, since time.Time) string

	// Machine returns the machine of the runtime whose start has this key, if it has an address where
	// gateways reach it (svc.Endpoint.Direct): it admits requests itself. Nil: none does.
	Machine func(ref svc.Ref, key string) route.Machine
	// Inherited is when the grants end that a server before this one may have given.
	Inherited time.Time

	// Relay is how a gateway on another machine than the runtimes reaches them. Nil connects
	// to their sockets.
	Relay route.Relay

	// Compress makes the gateway compress text for clients that accept it.
	Compress bool

	HoldTimeout   time.Duration
	StartWait     time.Duration
	IdleTimeout   time.Duration
	HeaderTimeout time.Duration
	ProbeTime     time.Duration
	ClientTimeout time.Duration
	LingerTime    time.Duration
	FreshTime     time.Duration
	SweepEvery    time.Duration
	MaxHeld       int
	MaxHeader     int // bytes

	MaxConns           int // of all clients
	MaxConnsPerClient  int // per address; trusted proxies have no such limit
	MaxConnsPerVersion int // requests and websockets of one runtime
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Engine = cmp.Or(c.Engine, EngineLoop)
	c.HoldTimeout = cmp.Or(c.HoldTimeout, DefaultHoldTimeout)
	c.StartWait = cmp.Or(c.StartWait, DefaultStartWait)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, DefaultIdleTimeout)
	c.HeaderTimeout = cmp.Or(c.HeaderTimeout, DefaultHeaderTimeout)
	c.ProbeTime = cmp.Or(c.ProbeTime, DefaultProbeTime)
	c.ClientTimeout = cmp.Or(c.ClientTimeout, DefaultClientTimeout)
	c.LingerTime = cmp.Or(c.LingerTime, DefaultLingerTime)
	c.FreshTime = cmp.Or(c.FreshTime, DefaultFreshTime)
	c.SweepEvery = cmp.Or(c.SweepEvery, DefaultSweepEvery)
	c.MaxConns = cmp.Or(c.MaxConns, DefaultMaxConns)
	c.MaxConnsPerClient = cmp.Or(c.MaxConnsPerClient, DefaultMaxConnsPerClient)
	c.MaxConnsPerVersion = cmp.Or(c.MaxConnsPerVersion, DefaultMaxConnsPerVersion)
	c.MaxHeld = cmp.Or(c.MaxHeld, DefaultMaxHeld)
	c.MaxHeader = cmp.Or(c.MaxHeader, DefaultMaxHeader)
	return c
}
