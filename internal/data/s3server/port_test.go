package s3server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// startPort starts a port before a store that echoes lines.
func startPort(t *testing.T, limit int, timeout time.Duration) (dial func() net.Conn) {
	t.Helper()
	socket := filepath.Join(svctest.ShortDir(t), "s")
	store, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	go func() {
		for {
			nc, err := store.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(nc, nc); _ = nc.Close() }()
		}
	}()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	p, err := openPort(ctx, "127.0.0.1:0", socket, limit, timeout)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { p.serve(ctx); close(done) }()
	t.Cleanup(func() { stop(); <-done })
	return func() net.Conn {
		nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nc.Close() })
		_ = nc.SetDeadline(time.Now().Add(svctest.Patience))
		return nc
	}
}

// say sends a line and wants it back.
func say(t *testing.T, nc net.Conn) {
	t.Helper()
	if _, err := io.WriteString(nc, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(nc).ReadString('\n'); line != "hello\n" {
		t.Fatalf("%q, %v", line, err)
	}
}

// TestPortLimit: a connection above the limit is refused, until one has ended.
func TestPortLimit(t *testing.T) {
	t.Parallel()
	dial := startPort(t, 2, time.Hour)
	a, b := dial(), dial()
	say(t, a)
	say(t, b)
	if text, err := io.ReadAll(dial()); !strings.Contains(string(text), "503 Slow Down") {
		t.Errorf("%q, %v", text, err)
	}
	a.Close()
	svctest.Eventually(t, "the place of a closed connection is free", func() bool {
		c := dial()
		defer c.Close()
		_, err := io.WriteString(c, "hello\n")
		line, _ := bufio.NewReader(c).ReadString('\n')
		return err == nil && line == "hello\n"
	})
	say(t, b)
}

// TestPortIdle: a connection without a byte is closed, after an answer too.
func TestPortIdle(t *testing.T) {
	t.Parallel()
	dial := startPort(t, 8, 10*time.Millisecond)
	for _, line := range []string{"", "hello\n"} {
		nc := dial()
		_, _ = io.WriteString(nc, line) // on a busy machine it is closed before
		if text, err := io.ReadAll(nc); string(text) != line && len(text) > 0 || isTimeout(err) {
			t.Errorf("after %q: %q, %v", line, text, err)
		}
	}
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

// TestPortHalfClosed: a client that ends its direction gets its answer.
func TestPortHalfClosed(t *testing.T) {
	t.Parallel()
	nc := startPort(t, 8, time.Hour)()
	_, err := io.WriteString(nc, "last")
	if tcp, ok := nc.(*net.TCPConn); ok && err == nil {
		err = tcp.CloseWrite()
	}
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(nc); string(text) != "last" {
		t.Errorf("%q, %v", text, err)
	}
}
