package s3fault

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy is a proxy in front of one object store.
type Proxy struct {
	target     *url.URL // scheme and host
	transport  *http.Transport
	unbuffered *http.Transport // sends the available bytes of a body before it breaks
	listener   net.Listener
	server     *http.Server
	up, down   atomic.Int64

	mu       sync.Mutex // guards the fields below
	faults   Faults
	rng      *rand.Rand
	next     []Kind
	off      bool // the object store is down
	requests map[string]int64
	met      map[Kind]int64
	lists    map[string]*listing // by URL
	under    map[*exchange]context.CancelFunc
	idle     *sync.Cond // under is empty
}

// New listens on a free loopback port and forwards to target: http(s)://host:port,
// or unix:/path of a socket.
func New(target string) (*Proxy, error) {
	u, transport, err := dial(target)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it does not wait
	if err != nil {
		return nil, fmt.Errorf("listen for S3 clients: %w", err)
	}
	p := &Proxy{
		target: u, transport: transport, unbuffered: transport.Clone(), listener: listener,
		requests: map[string]int64{}, met: map[Kind]int64{}, lists: map[string]*listing{},
		under: map[*exchange]context.CancelFunc{},
	}
	p.unbuffered.WriteBufferSize = 1
	p.idle = sync.NewCond(&p.mu)
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	p.Set(Faults{})
	go func() { _ = p.server.Serve(listener) }() // ends with Close
	return p, nil
}

// TB is the part of testing.TB that Start uses.
type TB interface {
	Helper()
	Fatal(args ...any)
	Cleanup(f func())
}

// Start is New for a test. The proxy closes when the test ends.
func Start(t TB, target string) *Proxy {
	t.Helper()
	p, err := New(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// Endpoint is the URL for clients.
func (p *Proxy) Endpoint() string { return "http://" + p.listener.Addr().String() }

// Set configures the faults from now on, and clears those of Next.
func (p *Proxy) Set(f Faults) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.Kinds == nil {
		f.Kinds = All()
	}
	f.Slow, f.Stale, f.Delay = cmp.Or(f.Slow, 200*time.Millisecond), cmp.Or(f.Stale, 2*time.Second), cmp.Or(f.Delay, 100*time.Millisecond)
	p.faults, p.next = f, nil
	p.rng = rand.New(rand.NewPCG(f.Seed, 1)) //nolint:gosec // random faults of a test
}

// Next injects these faults into the coming requests, one each and in this order,
// in addition to Set. A fault waits for the first request that it applies to, and
// the faults after it wait as well.
func (p *Proxy) Next(faults ...Kind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = append(p.next, faults...)
}

// Down breaks every connection with a request in progress, and each that sends one,
// until Down(false).
func (p *Proxy) Down(off bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.off = off
	if off {
		p.breakAll()
	}
}

func (p *Proxy) breakAll() {
	for _, cancel := range p.under {
		cancel()
	}
}

// Wait returns once no request is in progress, late ones included.
func (p *Proxy) Wait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.under) > 0 {
		p.idle.Wait()
	}
}

// Close breaks all connections and waits for the requests in progress.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.off = true
	p.breakAll()
	p.mu.Unlock()
	_ = p.server.Close() // fails only for the listener
	p.Wait()
	p.transport.CloseIdleConnections()
	p.unbuffered.CloseIdleConnections()
}

// begin counts a request, chooses its fault and returns the context that ends it; ok
// is false when the object store is down.
func (p *Proxy) begin(ctx context.Context, x *exchange) (_ context.Context, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests[operation(x.r)]++
	if p.off {
		return ctx, false
	}
	x.kind, x.faults, x.earlier = p.choose(x.r), p.faults, p.earlier(x.r)
	if x.kind != None {
		p.met[x.kind]++
	}
	if x.kind == Late { // outlives the client's connection
		ctx = context.WithoutCancel(ctx)
	}
	ctx, p.under[x] = context.WithCancel(ctx)
	return ctx, true
}

func (p *Proxy) end(x *exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cancel := p.under[x]; cancel != nil {
		cancel()
		delete(p.under, x)
	}
	if len(p.under) == 0 {
		p.idle.Broadcast()
	}
}

// dial returns the base URL of requests and the transport for them.
func dial(target string) (*url.URL, *http.Transport, error) {
	t := &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, DisableCompression: true, ExpectContinueTimeout: time.Second}
	u, err := url.Parse(target)
	switch {
	case err == nil && u.Scheme == "unix" && u.Path != "":
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", u.Path)
		}
		return &url.URL{Scheme: "http", Host: "store"}, t, nil
	case err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		return &url.URL{Scheme: u.Scheme, Host: u.Host}, t, nil
	default:
		return nil, nil, fmt.Errorf("S3 endpoint %q is neither an http URL nor unix:/path", target)
	}
}
