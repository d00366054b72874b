package load_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
)

func serve(t *testing.T, status int, body string) load.Target {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "worker.test" {
			status = http.StatusMisdirectedRequest
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return load.Target{Network: "tcp", Address: server.Listener.Addr().String(), Host: "worker.test"}
}

func TestRun(t *testing.T) {
	t.Parallel()
	target := serve(t, http.StatusOK, "Hello"+strings.Repeat(" again", 100))
	r, err := load.Run(t.Context(), load.Window{Target: target, Path: "/", Expect: "Hello again", Conns: 4, For: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if r.Requests <= 0 || r.PerSecond <= 0 || r.Median <= 0 || r.P99 < r.Median {
		t.Errorf("measured %+v", r)
	}
}

func TestRunRefusesWrongAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		status     int
	}{
		{"status", "Hello", http.StatusBadGateway},
		{"body", "Bye", http.StatusOK},
		{"a body in chunks", "Bye" + strings.Repeat("Hello", 10_000), http.StatusOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := load.Window{Target: serve(t, tt.status, tt.body), Path: "/", Expect: "Hello", Conns: 1}
			if _, err := load.Run(t.Context(), w); err == nil {
				t.Error("measured in spite of it")
			}
		})
	}
}

// TestBodies: bodies with a length and in chunks, several on a connection, to the number that
// is wanted.
func TestBodies(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "Hello", strings.Repeat("Hello", 100_000)} {
		w := load.Window{Target: serve(t, http.StatusOK, body), Path: "/", Expect: body[:min(len(body), 5)], Conns: 3, For: time.Minute, Most: 30}
		if r, err := load.Run(t.Context(), w); err != nil || r.Requests != w.Most {
			t.Errorf("%d bytes: %+v, %v", len(body), r, err)
		}
	}
}

// TestFresh: each request has a connection of its own.
func TestFresh(t *testing.T) {
	t.Parallel()
	var conns, requests atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		_, _ = io.WriteString(w, "Hello")
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	target := load.Target{Network: "tcp", Address: server.Listener.Addr().String(), Host: "worker.test"}
	if _, err := load.Run(t.Context(), load.Window{Target: target, Path: "/", Expect: "Hello", Conns: 2, For: 20 * time.Millisecond, Fresh: true}); err != nil {
		t.Fatal(err)
	}
	if conns.Load() != requests.Load() || requests.Load() < 4 {
		t.Errorf("%d requests on %d connections", requests.Load(), conns.Load())
	}
}

// TestEcho: a window of messages counts what comes back.
func TestEcho(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, in, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		head := make([]byte, 6) // with a mask
		for {
			if _, err := io.ReadFull(in, head); err != nil {
				return
			}
			text := make([]byte, head[1]&0x7f)
			if _, err := io.ReadFull(in, text); err != nil {
				return
			}
			_, _ = conn.Write(append([]byte{head[0], byte(len(text))}, text...))
		}
	}))
	t.Cleanup(server.Close)
	target := load.Target{Network: "tcp", Address: server.Listener.Addr().String(), Host: "worker.test"}
	r, err := load.Run(t.Context(), load.Window{Target: target, Path: "/", Conns: 2, For: 20 * time.Millisecond, Echo: true})
	if err != nil || r.Requests < 2 || r.Median <= 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
