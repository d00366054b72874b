//go:build linux

package confine_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/host/confine"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// dial connects to each of args, "network address", and says the results. At last it connects to the
// first one, a Unix socket, while it changes the address to that of the second one.
func dial(ctx context.Context, args []string) error {
	for _, arg := range args {
		network, address, _ := strings.Cut(arg, " ")
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		prober{}.say(arg, err)
		if err == nil {
			_ = conn.Close()
		}
	}
	prober{}.say("signal-self", unix.Tgkill(os.Getpid(), unix.Gettid(), 0))
	prober{}.say("signal-parent", unix.Tgkill(os.Getppid(), os.Getppid(), 0))
	_, allowed, _ := strings.Cut(args[0], " ")
	_, foreign, _ := strings.Cut(args[1], " ")
	race(allowed, foreign)
	fmt.Fprintln(os.Stdout, "raced <nil>")
	return nil
}

// race connects some thousand times with an address that another thread changes.
func race(one, other string) {
	address := (*unix.RawSockaddrUnix)(unsafe.Pointer(&text))
	path := (*[108]byte)(unsafe.Pointer(&address.Path))
	var end atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !end.Load() {
			flip(path, one)
			flip(path, other)
		}
	}()
	for range 3000 {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			continue
		}
		address.Family = unix.AF_UNIX
		_, _, _ = unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(address)), unix.SizeofSockaddrUnix)
		_ = unix.Close(fd)
	}
	end.Store(true)
	<-done
}

// flip writes a path where another thread reads it: the race detector must not see that.
//
//go:norace
func flip(to *[108]byte, path string) {
	for i := range path {
		to[i] = path[i]
	}
	to[len(path)] = 0
}

// TestConnects: a program whose calls are handled connects to the Unix sockets that it may connect to,
// and to no others, also if it changes the address meanwhile. Other addresses are not restricted.
// It sends signals to itself alone.
func TestConnects(t *testing.T) {
	t.Parallel()
	dir := svctest.ShortDir(t)
	paths := map[string]*atomic.Int32{}
	for _, name := range []string{filepath.Join(dir, "own"), filepath.Join(dir, "foe"), "@" + dir} {
		paths[name] = listen(t, "unix", name)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	own, foe := "unix "+filepath.Join(dir, "own"), "unix "+filepath.Join(dir, "foe")
	args := []string{own, foe, "unix " + filepath.Join(dir, "missing"), "unix @" + dir, "tcp " + l.Addr().String(), "tcp 127.0.0.1:1", "udp 127.0.0.1:1"}
	got := handled(t, args, func(path string) bool {
		return path == filepath.Join(dir, "own") || path == filepath.Join(dir, "missing")
	})
	want := map[string]string{
		args[0]: ok, args[1]: "EPERM", args[2]: "ENOENT", args[3]: "EPERM", args[4]: ok, args[5]: "ECONNREFUSED", args[6]: ok, "raced": ok,
		"signal-self": ok, "signal-parent": "EPERM",
	}
	for what, result := range want {
		if got[what] != result {
			t.Errorf("%s: %s, want %s", what, got[what], result)
		}
	}
	for path, n := range paths {
		if is := n.Load() > 0; is != (path == filepath.Join(dir, "own")) {
			t.Errorf("%s: %d connections", path, n.Load())
		}
	}
}

// listen counts the connections of a listener.
func listen(t *testing.T, network, address string) *atomic.Int32 {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	n := new(atomic.Int32)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			n.Add(1)
			_ = conn.Close()
		}
	}()
	return n
}

// handled runs the role dial on a thread whose connections are handled.
func handled(t *testing.T, args []string, may func(path string) bool) map[string]string {
	t.Helper()
	line := svctest.Command("dial", args...)
	c := exec.Command(line[0], line[1:]...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, os.Stderr
	ended, served := make(chan error), make(chan error, 1)
	var calls *confine.Calls
	go func() {
		runtime.LockOSThread() // and ends with the goroutine
		var err error
		if calls, err = confine.Notify(false, true); err == nil {
			err = c.Start()
		}
		if err == nil {
			unchecked := func(err error) { t.Errorf("connections are not checked: %v", err) }
			go func() { served <- calls.Serve(c.Process.Pid, confine.Handlers{Connect: may, Unchecked: unchecked}) }()
			err = c.Wait()
		}
		ended <- err
	}()
	if err := svctest.Wait(t, "the end of the program", ended); err != nil {
		t.Fatal(err)
	}
	_ = calls.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
	return results(out.String())
}
