package binding_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
)

// serve serves h on a socket and gives its path. The server is closed with the
// test.
func serve(t *testing.T, log io.Writer, h http.HandlerFunc) (*binding.Server, string) {
	t.Helper()
	path := filepath.Join(bindingtest.Dir(t), "s")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := binding.NewServer(h, slog.New(slog.NewTextHandler(log, nil)))
	done := make(chan error, 1)
	go func() { done <- s.Serve(t.Context(), l) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-done; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return s, path
}

func client(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
}

// get makes a request that must be answered with 200.
func get(t *testing.T, path, uri string) error {
	t.Helper()
	resp, err := client(path).Get("http://x" + uri)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return nil
}

func TestServer(t *testing.T) {
	t.Parallel()
	_, path := serve(t, t.Output(), func(w http.ResponseWriter, r *http.Request) {
		switch r.RequestURI {
		case "/echo/a%2Fb?x=1":
			w.Header().Set("X-Meta", r.Header.Get("X-Meta"))
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			binding.Reply(w, "text/plain", body)
		case "/stream":
			for i := range 3 {
				fmt.Fprintf(w, "part %d;", i)
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Error(err)
				}
			}
		case "/unread":
			binding.Fail(w, http.StatusTeapot, "it is\r\na teapot é")
		case "/gone":
			w.WriteHeader(http.StatusNoContent)
		case "/nothing":
		}
	})
	large := strings.Repeat("x", 3<<20)
	c := client(path)
	for _, tt := range []struct{ method, uri, body, want string }{
		{"GET", "/echo/a%2Fb?x=1", "", `200 OK [ü{"a":1}] `},
		{"PUT", "/echo/a%2Fb?x=1", "hello", `200 OK [ü{"a":1}] hello`},
		{"PUT", "/echo/a%2Fb?x=1", large, `200 OK [ü{"a":1}] ` + large},
		{"GET", "/stream", "", "200 OK [] part 0;part 1;part 2;"},
		{"PUT", "/unread", large, "418 it is  a teapot é [] "},
		{"GET", "/gone", "", "204 No Content [] "},
		{"HEAD", "/stream", "", "200 OK [] "},
		{"POST", "/nothing", large, "200 OK [] "},
	} {
		for _, sized := range []bool{true, false} {
			var body io.Reader = strings.NewReader(tt.body)
			if !sized {
				body = struct{ io.Reader }{body} // of unknown length: sent in chunks
			}
			req, err := http.NewRequestWithContext(t.Context(), tt.method, "http://fake-host"+tt.uri, body)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Meta", `ü{"a":1}`)
			resp, err := c.Do(req)
			if err != nil {
				t.Fatalf("%s %s: %v", tt.method, tt.uri, err)
			}
			text, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if got := fmt.Sprintf("%s [%s] %s", resp.Status, resp.Header.Get("X-Meta"), text); err != nil || got != tt.want {
				t.Errorf("%s %s: got %.100q (%v), want %.100q", tt.method, tt.uri, got, err, tt.want)
			}
		}
	}
}

// What is no HTTP ends its connection and nothing else.
func TestServerNoHTTP(t *testing.T) {
	t.Parallel()
	_, path := serve(t, t.Output(), func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	for _, text := range []string{"", "\r\n\r\n", "nonsense\r\n\r\n", "GET / HTTP/1.1\r\nA: " + strings.Repeat("x", 2<<20) + "\r\n\r\n", "PUT / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab"} {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, text) // it may be closed half way
		_ = conn.CloseWrite()
		answer, _ := io.ReadAll(conn)
		if len(answer) > 0 {
			t.Errorf("%.20q is answered: %q", text, answer)
		}
		_ = conn.Close()
	}
	if err := get(t, path, "/"); err != nil {
		t.Errorf("after them: %v", err)
	}
}

func TestServerPanic(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s, path := serve(t, &log, func(_ http.ResponseWriter, r *http.Request) {
		if r.RequestURI == "/panic" {
			panic("oh no")
		}
	})
	if err := get(t, path, "/panic"); err == nil {
		t.Error("a panic is answered")
	}
	if err := get(t, path, "/"); err != nil {
		t.Errorf("after it: %v", err)
	}
	s.Close()
	if !strings.Contains(log.String(), "oh no") {
		t.Errorf("the log does not tell: %s", &log)
	}
}

// Close interrupts handlers and waits for them.
func TestServerClose(t *testing.T) {
	t.Parallel()
	started, ended := make(chan struct{}), false
	s, path := serve(t, t.Output(), func(w http.ResponseWriter, r *http.Request) {
		close(started)
		<-r.Context().Done()
		ended = true
		_, _ = w.Write([]byte("interrupted"))
	})
	idle, err := new(net.Dialer).DialContext(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		conn, err := new(net.Dialer).DialContext(t.Context(), "unix", path)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || line != "HTTP/1.1 200 OK\r\n" {
			t.Errorf("got %q, %v", line, err)
		}
	})
	<-started
	s.Close()
	if !ended {
		t.Error("the handler still runs")
	}
	if n, err := idle.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("an idle connection is open: %d, %v", n, err)
	}
	all.Wait()
	if _, err := new(net.Dialer).DialContext(t.Context(), "unix", path); err == nil {
		t.Error("it still listens")
	}
	s.Close()
}

// An answer that is shorter than it said ends its connection: the next would be
// taken for its rest.
func TestServerShortAnswer(t *testing.T) {
	t.Parallel()
	_, path := serve(t, t.Output(), func(w http.ResponseWriter, r *http.Request) {
		if r.RequestURI == "/short" {
			w.Header().Set("Content-Length", "10")
			_, _ = w.Write([]byte("short"))
			return
		}
		binding.Reply(w, "text/plain", []byte("whole"))
	})
	c := client(path)
	for range 3 {
		resp, err := c.Get("http://x/short")
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		if err == nil {
			t.Error("a short answer looks whole")
		}
		if err := get(t, path, "/whole"); err != nil {
			t.Errorf("after it: %v", err)
		}
	}
}
