package svctest_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
)

// kept is the server's side of a connection that is never closed.
var kept net.Conn

// TestIdleConnection leaves an idle connection of the standard client to a server that never closes it.
// Main closes it; else it finds the connection's goroutines when all tests have ended, and fails.
func TestIdleConnection(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	answered := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			kept = conn
			_, err = http.ReadRequest(bufio.NewReader(conn))
		}
		if err == nil {
			_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
		answered <- err
	}()
	resp, err := http.Get("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "ok" {
		t.Errorf("%q, %v", text, err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}
