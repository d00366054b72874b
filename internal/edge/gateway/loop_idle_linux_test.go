package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/edge/gateway"
)

// TestIdleConnectionsAreSmall counts the bytes that the engine loop keeps for a client between
// two requests. It does not run in parallel: the heap must be that of this test.
func TestIdleConnectionsAreSmall(t *testing.T) {
	const (
		limit = 1536 // bytes for each connection
		size  = 512 << 10
	)
	for name, number := range map[string]int{"short": 1000, "long": 300} {
		t.Run(name, func(t *testing.T) {
			b := start(t, gateway.Config{Engine: gateway.EngineLoop})
			b.ready(shop, always(t, map[string]string{"short": "hello", "long": strings.Repeat("x", size)}[name]))
			for range 100 { // then everything that loops make once is there
				b.ask(t)
			}
			each := int64(0)
			for range 3 { // what a loop makes once may come late; what connections keep comes each time
				if each = b.growth(t, number, limit); each <= limit {
					return
				}
			}
			t.Errorf("an idle connection needs %d bytes, want at most %d", each, limit)
		})
	}
}

// growth opens a number of connections and returns what each of them keeps, in bytes: a limit at
// most, or what is left after 5 seconds, because what served the last ones is freed soon.
func (b *bench) growth(t *testing.T, number int, limit int64) (each int64) {
	t.Helper()
	before := inUse()
	for range number {
		b.ask(t)
	}
	end := time.Now().Add(5 * time.Second)
	for each = limit + 1; each > limit && time.Now().Before(end); {
		each = (inUse() - before) / int64(number)
	}
	return each
}

// ask sends a request on a new connection, which takes no memory of Go's and stays open until
// the test ends. The client's buffer is small, so that the gateway has to wait for it.
func (b *bench) ask(t *testing.T) {
	t.Helper()
	addr, err := net.ResolveTCPAddr("tcp4", b.addr)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4<<10)
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: addr.Port, Addr: [4]byte(addr.IP.To4())}); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Write(fd, []byte(hello)); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(descriptor(fd)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, err)
	}
	_ = resp.Body.Close()
}

// descriptor reads from a socket without the poller of package net, which keeps memory for it.
type descriptor int

func (d descriptor) Read(b []byte) (int, error) {
	n, err := unix.Read(int(d), b)
	if err == nil && n == 0 {
		err = io.EOF
	}
	return max(n, 0), os.NewSyscallError("read", err)
}

// inUse is the memory of objects and goroutines.
func inUse() int64 {
	runtime.GC()
	runtime.GC() // pools are empty after the second one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
