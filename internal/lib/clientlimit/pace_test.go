package clientlimit_test

import (
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/lib/clientlimit"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

const limit = time.Minute

func TestPace(t *testing.T) {
	t.Parallel()
	var p clientlimit.Pace
	now := time.Now()
	check := func(what string, after time.Duration, besides uint32, want bool) {
		t.Helper()
		if now = now.Add(after); p.Stuck(now, limit, besides) != want {
			t.Errorf("%s: stuck %v", what, !want)
		}
	}
	check("without a call", 2*limit, 0, false)
	p.Begin()
	check("a new call", 2*limit, 0, false)
	check("within the limit", limit, 0, false)
	check("above the limit", 1, 0, true)
	p.End()
	check("after the call", limit, 0, false)
	p.Begin()
	check("the next call", limit, 0, false)
	p.End()
	p.Begin()
	check("a third call", 2*limit, 0, false)
	check("other progress", 2*limit, 1, false)
	check("no more progress", 2*limit, 1, true)
}

// TestStuckWrite has a client that does not read, and later reads a part: only the
// first is stuck. The test chooses the times of the sweep.
func TestStuckWrite(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		return // the kernel does not tell what a client has read
	}
	server, reader := pipe(t)
	var p clientlimit.Pace
	written := make(chan error, 1)
	p.Begin()
	go func() {
		_, err := server.Write(make([]byte, 64<<20))
		written <- err
	}()
	svctest.Eventually(t, "the buffers are full", steady(server))
	now := time.Now()
	if p.StuckWrite(now, limit, server) {
		t.Fatal("a new call is stuck")
	}
	full := clientlimit.Unsent(server)
	if _, err := io.ReadFull(reader, make([]byte, 16<<20)); err != nil {
		t.Fatal(err)
	}
	svctest.Eventually(t, "the buffers are full again", steady(server))
	if left := clientlimit.Unsent(server); left == full {
		t.Logf("%d bytes before and after the read: this call cannot tell", left)
	} else if p.StuckWrite(now.Add(2*limit), limit, server) {
		t.Error("a call whose client has read is stuck")
	}
	p.StuckWrite(now.Add(4*limit), limit, server)
	if !p.StuckWrite(now.Add(6*limit), limit, server) {
		t.Error("a call whose client does not read is not stuck")
	}
	server.Close()
	if err := <-written; err == nil {
		t.Error("the write ended before the test")
	}
}

// steady reports whether the number of unsent bytes is not 0 and the same in 20 calls.
func steady(conn net.Conn) func() bool {
	last, same := 0, 0
	return func() bool {
		n := clientlimit.Unsent(conn)
		if same++; n != last || n == 0 {
			last, same = n, 0
		}
		return same > 20
	}
}

// pipe returns the two ends of a TCP connection.
func pipe(t *testing.T) (server, client net.Conn) {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if client, err = new(net.Dialer).DialContext(t.Context(), "tcp", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return server, client
}
