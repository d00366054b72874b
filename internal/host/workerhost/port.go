package workerhost

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"time"
)

// PortKeyHeader carries the key of a version's own port.
const PortKeyHeader = "X-Svc-Port-Key"

// portHeaderTime is how long a client of the port may take for a request's header.
const portHeaderTime = 10 * time.Second

// ownPort is the port of a version on this machine's loopback address. Every process of the
// machine reaches it, so it answers only requests with the key, which administrators see in
// the routes. It passes them to the worker's socket.
type ownPort struct {
	key       string
	listener  net.Listener
	server    *http.Server
	transport *http.Transport
}

func openPort(ctx context.Context, socket string, log *slog.Logger) (*ownPort, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on a port of the version: %w", err)
	}
	p := &ownPort{key: rand.Text(), listener: l, transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
		DisableCompression: true, DisableKeepAlives: true,
	}}
	quiet := slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	proxy := &httputil.ReverseProxy{Transport: p.transport, Rewrite: toWorkerSocket, FlushInterval: -1, ErrorLog: quiet}
	p.server = &http.Server{Handler: p.guard(proxy), ReadHeaderTimeout: portHeaderTime, ErrorLog: quiet}
	go func() {
		if err := p.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.WarnContext(ctx, "the version's own port no longer answers", "error", err)
		}
	}()
	return p, nil
}

// guard answers 403 without the key.
func (p *ownPort) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get(PortKeyHeader)), []byte(p.key)) != 1 {
			http.Error(w, "this port needs the header "+PortKeyHeader+" with the upstream_key of GET /v1/runtime/routes", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// toWorkerSocket keeps the host of a request, and lets no client set what the gateway sets.
func toWorkerSocket(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", "worker", r.In.Host
	for _, name := range []string{PortKeyHeader, CFHeader} {
		r.Out.Header.Del(name)
	}
	r.Out.Header.Set(ProtoHeader, "http")
}

func (p *ownPort) number() int {
	if a, ok := p.listener.Addr().(*net.TCPAddr); ok {
		return a.Port
	}
	return 0
}

// close ends all connections.
func (p *ownPort) close() error {
	err := p.server.Close()
	p.transport.CloseIdleConnections()
	return err
}
