package dial_test

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/lib/dial"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestVanished: a connection ends when the other machine answers no more, although it has confirmed
// everything that was sent, and when it has not.
func TestVanished(t *testing.T) {
	t.Parallel()
	for name, send := range map[string]bool{"nothing under way": false, "something under way": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			nc, err := dial.TCP(t.Context(), l.Addr().String(), time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			there, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer there.Close()
			vanish(t, there)
			if send {
				if _, err := nc.Write([]byte("x")); err != nil {
					t.Fatal(err)
				}
			}
			began := time.Now()
			ended := make(chan error, 1)
			go func() {
				_, err := nc.Read(make([]byte, 1))
				ended <- err
			}()
			if err := svctest.Wait(t, "the end of the connection", ended); err == nil {
				t.Error("no error")
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it ended after %s", took)
			}
		})
	}
}

// vanish has the kernel drop all that arrives for a connection, as if its machine were gone.
func vanish(t *testing.T, c net.Conn) {
	t.Helper()
	raw, err := c.(*net.TCPConn).SyscallConn() //nolint:forcetypeassert // a TCP listener has made it
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		drop := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: 0}}
		failed = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &drop[0]})
	})
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
}
