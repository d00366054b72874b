package https_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/edge/https"
	"github.com/svcctl/svcctl/internal/lib/clientlimit"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// front is a Front before a gateway that says what it got.
type front struct {
	t      *testing.T
	ca     *svctest.Authority
	addr   string
	result chan string // of handshakes
}

func start(t *testing.T) *front {
	t.Helper()
	behind := &http.Server{Handler: http.HandlerFunc(say), ConnContext: func(ctx context.Context, nc net.Conn) context.Context { return context.WithValue(ctx, connKey{}, nc) }}
	return startBefore(t, func(_ context.Context, ln net.Listener) error { return behind.Serve(ln) }, behind.Shutdown)
}

// startBefore starts a Front before a gateway.
func startBefore(t *testing.T, serve func(context.Context, net.Listener) error, shutdown func(context.Context) error) *front {
	t.Helper()
	f := &front{t: t, ca: svctest.NewAuthority(t), result: make(chan string, 100)}
	cert, key := f.ca.Write(t, t.TempDir(), "*.apps.test", "api.test")
	files, err := https.OpenFiles(slog.New(slog.DiscardHandler), https.Pair{Cert: cert, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.addr = ln.Addr().String()
	server := https.NewFront(https.Config{
		Certificate: files.GetCertificate,
		Gateway:     serve,
		API:         http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "API %s %v", r.Proto, r.TLS != nil) }),
		IsAPI:       func(host string) bool { return host == "api.test" },
		Guard:       &clientlimit.Guard{Timeout: time.Minute, Gate: clientlimit.NewGate(clientlimit.Caps{Total: 100, PerClient: 100})},
		Observe:     func(result string) { f.result <- result }, Logger: slog.New(slog.DiscardHandler),
	}, ln)
	served := make(chan error, 1)
	go func() { served <- server.Serve(t.Context()) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := errors.Join(server.Close(ctx), shutdown(ctx), server.Wait(ctx), <-served); err != nil {
			t.Error(err)
		}
	})
	return f
}

type connKey struct{}

// say describes the request as the gateway got it, after its body.
func say(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	nc, _ := r.Context().Value(connKey{}).(net.Conn)
	_, encrypted := nc.(gateway.Encrypted)
	host, _, _ := net.SplitHostPort(nc.RemoteAddr().String())
	fmt.Fprintf(w, "%s %s %s from %s encrypted=%v xff=%q ua=%q body=%d", r.Proto, r.Host, r.RequestURI, host, encrypted, r.Header["X-Forwarded-For"], r.Header["User-Agent"], len(body))
}

// client speaks HTTP/2 or HTTP/1.1.
func (f *front) client(two bool) *http.Client {
	t := &http.Transport{
		ForceAttemptHTTP2: two, TLSClientConfig: &tls.Config{RootCAs: f.ca.Pool()},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, f.addr)
		},
	}
	if !two {
		t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	f.t.Cleanup(t.CloseIdleConnections)
	return &http.Client{Transport: t, Timeout: time.Minute}
}

func (f *front) get(c *http.Client, host, body string) (proto, text string) {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, "https://"+host, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("X-Forwarded-For", "192.0.2.1")
	r.Header["User-Agent"] = nil
	resp, err := c.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp.Proto, string(data)
}

// TestFront: requests of both protocols reach gateway and API unchanged.
func TestFront(t *testing.T) {
	t.Parallel()
	f := start(t)
	big := strings.Repeat("x", 1<<20)
	for _, two := range []bool{false, true} {
		c, proto := f.client(two), map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"}[two]
		got, text := f.get(c, "v1.apps.test/a%2Fb//c?q=%zz;a", big)
		want := fmt.Sprintf("HTTP/1.1 v1.apps.test /a%%2Fb//c?q=%%zz;a from 127.0.0.1 encrypted=true xff=[\"192.0.2.1\"] ua=[] body=%d", len(big))
		if got != proto || text != want {
			t.Errorf("%s: %s\n got %s\nwant %s", proto, got, text, want)
		}
		if got, text = f.get(c, "api.test/v1/health", ""); got != proto || text != "API "+proto+" true" {
			t.Errorf("the API by %s: %s %s", proto, got, text)
		}
		if _, text = f.get(c, "api.test/metrics", ""); text != "404 page not found\n" {
			t.Errorf("the metrics by %s: %s", proto, text)
		}
	}
	for range 3 { // HTTP/1.1 needs a connection for each host
		if r := <-f.result; r != "ok" {
			t.Errorf("a handshake is %s", r)
		}
	}
}

// TestFrontUnreadUpload: an answer that does not need the body of its request arrives, of the gateway and of
// the API, by both protocols.
func TestFrontUnreadUpload(t *testing.T) {
	t.Parallel()
	ingress, err := svc.NewIngress(svc.IngressConfig{BaseDomain: "apps.test", Port: 443})
	if err != nil {
		t.Fatal(err)
	}
	g := gateway.New(gateway.Config{Ingress: ingress})
	f := startBefore(t, g.Serve, g.Shutdown)
	for host, want := range map[string]int{"unknown.apps.test": http.StatusNotFound, "api.test": http.StatusOK} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+host, io.LimitReader(zeros{}, 20<<20))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := f.client(true).Do(r)
		if err != nil {
			t.Fatalf("%s: %v", host, err)
		}
		if _, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != want {
			t.Errorf("%s: %s, %v", host, resp.Status, err)
		}
		resp.Body.Close()
		// A client of HTTP/1.1 that reads when it has sent all.
		nc, err := (&tls.Dialer{Config: &tls.Config{RootCAs: f.ca.Pool(), ServerName: host}}).DialContext(t.Context(), "tcp", f.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		if _, err := fmt.Fprintf(nc, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s", host, 20<<20, strings.Repeat("x", 20<<20)); err != nil {
			t.Fatalf("%s: %v", host, err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(nc), nil)
		if err != nil || answer.StatusCode != want {
			t.Fatalf("%s: %v, %v", host, answer, err)
		}
		answer.Body.Close()
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestFrontFailedHandshake: who does not speak TLS is not served, and is counted.
func TestFrontFailedHandshake(t *testing.T) {
	t.Parallel()
	f := start(t)
	nc, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := nc.Write([]byte("GET / HTTP/1.1\r\nHost: v1.apps.test\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(nc); err != nil || strings.Contains(string(text), "HTTP/1.1 200") {
		t.Errorf("%q, %v", text, err)
	}
	if r := <-f.result; r != "failed" {
		t.Errorf("the handshake is %s", r)
	}
}

// TestRedirect: to the same host and target, at the port of https.
func TestRedirect(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		port               int
		host, target, want string
	}{
		{443, "shop.apps.test", "/a%2Fb?c", "https://shop.apps.test/a%2Fb?c"},
		{443, "shop.apps.test:80", "/", "https://shop.apps.test/"},
		{8443, "shop.apps.test:8080", "/", "https://shop.apps.test:8443/"},
		{443, "[::1]:80", "/", "https://[::1]/"},
		{443, "[::1]", "/", "https://[::1]/"},
		{443, "", "/", ""},
		{443, "shop.apps.test", "*", ""},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", http.NoBody)
		r.Host, r.RequestURI = tc.host, tc.target
		w := httptest.NewRecorder()
		https.Redirect(tc.port).ServeHTTP(w, r)
		if got := w.Header().Get("Location"); got != tc.want || (tc.want != "") != (w.Code == http.StatusPermanentRedirect) {
			t.Errorf("%s%s: %d %s, want %s", tc.host, tc.target, w.Code, got, tc.want)
		}
	}
}
