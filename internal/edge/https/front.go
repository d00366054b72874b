package https

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/lib/clientlimit"
)

const (
	// handshakeTime is the time limit of a handshake in which the client does its part, and
	// orderTime that of one in which a certificate may be ordered. headTime is the limit of a
	// request's head.
	handshakeTime = 10 * time.Second
	orderTime     = 30 * time.Second
	headTime      = 10 * time.Second
	// acceptPause is the time after an accept that failed.
	acceptPause = 100 * time.Millisecond
	// idleTime is the time limit between the requests of a connection.
	idleTime = 2 * time.Minute
	// maxStreams is the maximum number of requests at the same time of a connection of HTTP/2.
	maxStreams = 128
)

// Config configures a Front.
type Config struct {
	Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	Challenge   string                                    // protocol of an authority's connections, which end with their handshakes; "" for none
	Gateway     func(context.Context, net.Listener) error // serves connections until their listener is closed
	API         http.Handler
	IsAPI       func(host string) bool // of a name in lower case, without a port
	Guard       *clientlimit.Guard     // limits connections; the caller runs it
	Observe     func(result string)    // hears of each handshake: "ok" or "failed"
	Logger      *slog.Logger
}

type patientKey struct{}

// Front serves TLS connections.
type Front struct {
	cfg     Config
	tls     *tls.Config
	server  *http.Server
	gateway *queue // HTTP/1.1 for hosts of the gateway
	web     *queue // all others
	bridge  http.Handler

	mu      sync.Mutex
	ln      net.Listener
	closing bool
	running sync.WaitGroup // handshakes
	ended   chan error     // of the server's Shutdown
}

// NewFront returns a Front for the listener of an address.
func NewFront(cfg Config, ln net.Listener) *Front {
	f := &Front{cfg: cfg, ln: ln, gateway: newQueue(ln.Addr()), web: newQueue(ln.Addr()), ended: make(chan error, 1)}
	f.tls = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: cfg.Certificate, NextProtos: []string{"h2", "http/1.1"}}
	if cfg.Challenge != "" {
		f.tls.NextProtos = append(f.tls.NextProtos, cfg.Challenge)
	}
	f.bridge = newBridge(f.gateway, cfg.Logger)
	f.server = &http.Server{
		Handler: f, ReadHeaderTimeout: headTime, IdleTimeout: idleTime,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxStreams, SendPingTimeout: time.Minute, WriteByteTimeout: cfg.Guard.Timeout},
		ConnContext: func(ctx context.Context, nc net.Conn) context.Context {
			if c, ok := nc.(patient); ok {
				ctx = context.WithValue(ctx, patientKey{}, c)
			}
			return context.WithValue(ctx, visitorKey{}, nc.RemoteAddr())
		},
		ErrorLog: slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug),
	}
	return f
}

// Serve accepts connections until Close, and returns nil then. Call it once.
func (f *Front) Serve(ctx context.Context) error {
	failed := make(chan error, 3)
	go func() { failed <- f.cfg.Gateway(ctx, f.gateway) }()
	go func() { failed <- f.server.Serve(f.web) }()
	go func() { failed <- f.accept(ctx) }()
	err := <-failed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closing {
		return nil
	}
	return err
}

// accept starts a handshake for each connection.
func (f *Front) accept(ctx context.Context) error {
	ln := f.cfg.Guard.Listener(f.ln)
	for {
		nc, err := ln.Accept()
		switch {
		case err == nil:
			f.running.Go(func() { f.begin(ctx, nc) })
		case errors.Is(err, net.ErrClosed):
			return err
		default: // most often no free file descriptor: open connections continue
			f.cfg.Logger.WarnContext(ctx, "accepting a TLS connection failed; retrying", "error", err)
			_ = backoff.Sleep(ctx, acceptPause)
		}
	}
}

// begin shakes hands and passes the connection on.
func (f *Front) begin(ctx context.Context, nc net.Conn) {
	limit := handshakeTime
	if f.cfg.Challenge != "" {
		limit = orderTime
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := tls.Server(nc, f.tls)
	if err := c.HandshakeContext(limited); err != nil {
		f.cfg.Observe("failed")
		f.cfg.Logger.DebugContext(ctx, "TLS handshake failed", "client", nc.RemoteAddr(), "error", err)
		_ = nc.Close()
		return
	}
	f.cfg.Observe("ok")
	state := c.ConnectionState()
	if state.NegotiatedProtocol == f.cfg.Challenge && f.cfg.Challenge != "" { // the handshake was the answer
		_ = c.Close()
		return
	}
	switch {
	case state.NegotiatedProtocol == "h2":
		f.web.put(c)
	case f.cfg.IsAPI(strings.ToLower(state.ServerName)):
		f.web.put(patient{c})
	default:
		f.gateway.put(secure{c})
	}
}

// ServeHTTP answers requests of HTTP/2, and all requests of connections for the API.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c, ok := r.Context().Value(patientKey{}).(patient); ok {
		state := c.ConnectionState()
		r.TLS = &state
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	switch {
	case !f.cfg.IsAPI(strings.ToLower(host)):
		f.bridge.ServeHTTP(w, r)
	case r.URL.Path == "/metrics": // for the operator, who reads them at the API's own port
		http.NotFound(w, r)
	default:
		f.cfg.API.ServeHTTP(w, r)
	}
}

// Close stops accepting connections, and tells clients of HTTP/2 and of the API to ask
// elsewhere. It does not wait; requests in flight continue. The gateway closes its own
// connections.
func (f *Front) Close(ctx context.Context) error {
	f.mu.Lock()
	f.closing = true
	f.mu.Unlock()
	err := f.ln.Close()
	go func() { f.ended <- f.server.Shutdown(ctx) }()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Wait waits after Close until the requests of HTTP/2 and of the API have ended. When the
// context of Close ends first, it closes their connections.
func (f *Front) Wait(context.Context) error {
	err := <-f.ended
	_ = f.gateway.Close()
	f.running.Wait()
	if err != nil {
		return errors.Join(err, f.server.Close())
	}
	return nil
}
