package clientlimit_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/lib/clientlimit"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// serve starts a server with a guard and returns its address.
func serve(t *testing.T, g *clientlimit.Guard, h http.HandlerFunc) string {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h, ConnState: g.ConnState, ReadHeaderTimeout: svctest.Patience}
	served := make(chan error)
	go func() { served <- server.Serve(g.Listener(ln)) }()
	t.Cleanup(func() {
		server.Close()
		<-served
		svctest.Eventually(t, "no connection is counted", func() bool { return g.Gate.Count() == 0 })
	})
	return ln.Addr().String()
}

func dial(t *testing.T, addr, text string) net.Conn {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(svctest.Patience))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

func status(t *testing.T, c net.Conn) string {
	t.Helper()
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line[:len("HTTP/1.1 200")]
}

// TestGuardSlowClients has a body that does not arrive, a response that is not read, and
// a handler that takes longer than the limit.
func TestGuardSlowClients(t *testing.T) {
	t.Parallel()
	g := &clientlimit.Guard{Timeout: 10 * time.Millisecond, Gate: clientlimit.NewGate(clientlimit.Caps{})}
	results, proceed := make(chan error, 2), make(chan struct{})
	addr := serve(t, g, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/body":
			_, err := io.ReadAll(r.Body)
			w.WriteHeader(http.StatusRequestTimeout)
			results <- err
		case "/stall":
			var err error
			for piece := make([]byte, 1<<20); err == nil; {
				_, err = w.Write(piece)
			}
			results <- err
		case "/slow":
			select {
			case <-proceed:
			case <-r.Context().Done():
			}
		}
	})
	slow := dial(t, addr, "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
	body := dial(t, addr, "POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
	if err := svctest.Wait(t, "the body ends", results); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the body: %v", err)
	}
	if got := status(t, body); got != "HTTP/1.1 408" {
		t.Error(got)
	}
	dial(t, addr, "GET /stall HTTP/1.1\r\nHost: a\r\n\r\n")
	if err := svctest.Wait(t, "the response ends", results); err == nil {
		t.Error("the response was written")
	}
	close(proceed)
	if got := status(t, slow); got != "HTTP/1.1 200" {
		t.Errorf("a slow handler: %s", got)
	}
}

func TestGuardCaps(t *testing.T) {
	t.Parallel()
	g := &clientlimit.Guard{Timeout: time.Hour, Gate: clientlimit.NewGate(clientlimit.Caps{Total: 2})}
	addr := serve(t, g, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	const hello = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	first := dial(t, addr, hello)
	if got := status(t, first); got != "HTTP/1.1 200" {
		t.Error(got)
	}
	dial(t, addr, hello)
	svctest.Eventually(t, "two connections are counted", func() bool { return g.Gate.Count() == 2 })
	if got := status(t, dial(t, addr, "")); got != "HTTP/1.1 503" {
		t.Error(got)
	}
	first.Close()
	svctest.Eventually(t, "one connection is counted", func() bool { return g.Gate.Count() == 1 })
	if got := status(t, dial(t, addr, hello)); got != "HTTP/1.1 200" {
		t.Error(got)
	}
}

// TestGuardUnreadUpload has a client that sends a large body, which the handler does not read: it
// gets the answer, and its connection has no place among the others meanwhile.
func TestGuardUnreadUpload(t *testing.T) {
	t.Parallel()
	g := &clientlimit.Guard{Timeout: time.Hour, Gate: clientlimit.NewGate(clientlimit.Caps{Total: 1})}
	addr := serve(t, g, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	const size = 20 << 20
	c := dial(t, addr, fmt.Sprintf("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", size))
	if _, err := c.Write(make([]byte, size-1)); err != nil {
		t.Fatal(err)
	}
	svctest.Eventually(t, "the connection to end", func() bool { return g.Gate.Count() == 0 })
	if _, err := c.Write([]byte{0}); err != nil {
		t.Fatal(err)
	}
	if got := status(t, c); got != "HTTP/1.1 401" {
		t.Error(got)
	}
}

// TestLingering is TestGuardUnreadUpload without a guard.
func TestLingering(t *testing.T) {
	t.Parallel()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	server := &http.Server{Handler: refuse, ReadHeaderTimeout: svctest.Patience}
	served := make(chan error)
	go func() { served <- server.Serve(clientlimit.Lingering(ln)) }()
	defer func() { server.Close(); <-served }()
	const size = 20 << 20
	c := dial(t, ln.Addr().String(), fmt.Sprintf("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", size))
	if _, err := c.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if got := status(t, c); got != "HTTP/1.1 401" {
		t.Error(got)
	}
}
