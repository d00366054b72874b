package gateway_test

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

const (
	base    = "apps.test"
	timeout = svctest.Patience // for events that must happen
)

var shop = svc.Ref{Project: "shop", Version: "v1"}

// engines runs a test with each engine, net/http among them: clients and workers must see
// the same with all.
func engines(t *testing.T, test func(*testing.T, gateway.Engine)) {
	t.Parallel()
	for _, engine := range []gateway.Engine{gateway.EngineGo, gateway.EngineLoop, gateway.EngineStd} {
		t.Run(string(engine), func(t *testing.T) {
			t.Parallel()
			test(t, engine)
		})
	}
}

// bench is a running gateway.
type bench struct {
	*gateway.Gateway
	addr   string
	client *http.Client
	log    *svctest.Buffer
}

// sweep is for tests whose clients are to be found too slow, and nothing else: a busy
// machine makes others slow as well.
const sweep = 10 * time.Millisecond

func start(t testing.TB, cfg gateway.Config) *bench {
	t.Helper()
	ingress, err := svc.NewIngress(svc.IngressConfig{BaseDomain: base, Port: 80})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{log: &svctest.Buffer{}}
	cfg.Ingress = ingress
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(b.log, nil))
	}
	cfg.ProbeTime = cmp.Or(cfg.ProbeTime, 20*time.Millisecond)
	cfg.LingerTime = cmp.Or(cfg.LingerTime, time.Second)                                              // of clients that never send their body
	cfg.HoldTimeout, cfg.StartWait = cmp.Or(cfg.HoldTimeout, timeout), cmp.Or(cfg.StartWait, timeout) // a busy machine is slow
	b.Gateway = gateway.New(cfg)
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.addr = ln.Addr().String()
	transport := &http.Transport{
		DisableCompression: true, MaxIdleConnsPerHost: 64, ExpectContinueTimeout: timeout,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", b.addr)
		},
	}
	b.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	served := make(chan error, 1)
	ctx := context.WithoutCancel(t.Context()) // here: a fuzz target may run before the goroutine does
	go func() { served <- b.Serve(ctx, ln) }()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		if err := b.Shutdown(ctx); err != nil {
			t.Errorf("shutting down: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return b
}

// ready makes ref a ready version whose runtime listens at socket.
func (b *bench) ready(ref svc.Ref, socket string) {
	b.SetVersion(ref, svc.Upstream{Status: svc.StatusReady, Endpoint: svc.Endpoint{Socket: socket, PID: 1}})
}

// answer is a response whose body was read.
type answer struct {
	StatusCode       int
	Status           string
	Header, Trailer  http.Header
	ContentLength    int64
	TransferEncoding []string
	Close            bool
}

func answerOf(r *http.Response) answer {
	return answer{r.StatusCode, r.Status, r.Header, r.Trailer, r.ContentLength, r.TransferEncoding, r.Close}
}

// get sends a GET and returns the response with its body.
func (b *bench) get(t testing.TB, host, path string) (answer, string) {
	t.Helper()
	return b.do(t, request(t, http.MethodGet, host, path, nil))
}

func (b *bench) do(t testing.TB, req *http.Request) (answer, string) {
	t.Helper()
	resp, err := b.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("reading the answer: %v", err)
	}
	return answerOf(resp), string(body)
}

func request(t testing.TB, method, host, path string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+host+path, body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// raw is a connection on which a test reads and writes bytes.
type raw struct {
	net.Conn
	*bufio.Reader
	t testing.TB
}

func (b *bench) raw(t testing.TB) *raw {
	t.Helper()
	nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", b.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(timeout))
	return &raw{nc, bufio.NewReader(nc), t}
}

func (r *raw) Read(p []byte) (int, error) { return r.Reader.Read(p) }

func (r *raw) send(s string) {
	r.t.Helper()
	if _, err := r.Write([]byte(s)); err != nil {
		r.t.Fatal(err)
	}
}

// answer reads one complete response.
func (r *raw) answer(method string) (answer, string) {
	r.t.Helper()
	resp, err := http.ReadResponse(r.Reader, &http.Request{Method: method})
	if err != nil {
		r.t.Fatalf("reading the answer: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatalf("reading the body: %v (have %q)", err, body)
	}
	return answerOf(resp), string(body)
}

// ended checks that the connection ends without further bytes.
func (r *raw) ended() {
	r.t.Helper()
	if rest, err := io.ReadAll(r.Reader); err != nil || len(rest) > 0 {
		r.t.Errorf("after the end: %q, %v", rest, err)
	}
}

// fakeRuntime listens like a runtime; serve receives each connection, and its number
// from 1.
func fakeRuntime(t testing.TB, serve func(n int, c *raw)) (socket string) {
	t.Helper()
	socket = filepath.Join(svctest.ShortDir(t), "s")
	ln, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	running.Go(func() {
		for n := 1; ; n++ {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, nc)
			mu.Unlock()
			_ = nc.SetDeadline(time.Now().Add(timeout))
			running.Go(func() {
				defer nc.Close()
				serve(n, &raw{nc, bufio.NewReader(nc), t})
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		mu.Lock()
		for _, nc := range conns {
			nc.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	return socket
}

// next reads a request with its body; ok is false at the end of the connection.
func (r *raw) next() (req *http.Request, body string, ok bool) {
	req, err := http.ReadRequest(r.Reader)
	if err != nil {
		return nil, "", false
	}
	b, err := io.ReadAll(req.Body)
	return req, string(b), err == nil
}

// reply sends a response with a body of known length.
func (r *raw) reply(status, body string, headers ...string) {
	fmt.Fprintf(r.Conn, "HTTP/1.1 %s\r\nContent-Length: %d\r\n", status, len(body))
	for _, h := range headers {
		fmt.Fprint(r.Conn, h, "\r\n")
	}
	fmt.Fprint(r.Conn, "\r\n", body)
}

// always is a runtime that answers every request with body.
func always(t testing.TB, body string) (socket string) {
	t.Helper()
	return fakeRuntime(t, func(_ int, c *raw) {
		for {
			if _, _, ok := c.next(); !ok {
				return
			}
			c.reply("200 OK", body)
		}
	})
}
