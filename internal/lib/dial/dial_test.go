package dial_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/lib/dial"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// TestSlowReader: a connection to a machine that answers, but whose program does not read for longer
// than a lost machine is waited for, stays.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	const size, wait = 64 << 20, 7 * time.Second
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	received := make(chan int64, 1)
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		<-time.After(wait)
		n, _ := io.Copy(io.Discard, nc) // the number says whether all came
		received <- n
	}()
	nc, err := dial.TCP(t.Context(), l.Addr().String(), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := nc.Write(make([]byte, size)); err != nil {
		t.Errorf("after %d bytes: %v", n, err)
	}
	_ = nc.Close()
	if n := svctest.Wait(t, "what was sent", received); n != size {
		t.Errorf("%d bytes of %d arrived", n, size)
	}
}
