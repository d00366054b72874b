package systemd_test

import (
	"context"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/lib/systemd"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func listen(t *testing.T) (path string, next func() string) {
	t.Helper()
	path = filepath.Join(svctest.ShortDir(t), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return path, func() string {
		buf := make([]byte, 100)
		n, err := c.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
}

func TestTell(t *testing.T) {
	t.Parallel()
	path, next := listen(t)
	systemd.NewManager([]string{"NOTIFY_SOCKET=" + path}, 1).Tell("READY=1")
	if got := next(); got != "READY=1" {
		t.Errorf("got %q", got)
	}
	systemd.NewManager(nil, 1).Tell("READY=1") // no manager
}

// TestWatch: the watchdog hears from a healthy process only.
func TestWatch(t *testing.T) {
	t.Parallel()
	path, next := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	var asked atomic.Int64
	go func() {
		defer close(done)
		m := systemd.NewManager([]string{"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=3000", "WATCHDOG_PID=7"}, 7)
		m.Watch(ctx, func(context.Context) bool { return asked.Add(1) > 2 })
	}()
	if got := next(); got != "WATCHDOG=1" || asked.Load() < 3 {
		t.Errorf("%q after %d checks", got, asked.Load())
	}
	cancel()
	<-done
	systemd.NewManager([]string{"WATCHDOG_USEC=3000", "WATCHDOG_PID=8"}, 7).Watch(t.Context(), nil) // of another process
}

// TestExtend: the interval of a watchdog is longer until Ready. Without a watchdog nothing changes.
func TestExtend(t *testing.T) {
	t.Parallel()
	path, next := listen(t)
	m := systemd.NewManager([]string{"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=3000"}, 7)
	m.Extend(time.Minute)
	m.Ready()
	systemd.NewManager([]string{"NOTIFY_SOCKET=" + path}, 7).Ready()
	for _, want := range []string{"WATCHDOG=1\nWATCHDOG_USEC=60000000", "READY=1\nWATCHDOG_USEC=3000", "READY=1"} {
		if got := next(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestWatchEnds: a manager that reads nothing does not keep the process from stopping.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	path, _ := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	systemd.NewManager([]string{"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=3000"}, 7).Watch(ctx, func(context.Context) bool {
		if asked++; asked == 12 { // the queue of the socket has ten messages
			time.AfterFunc(10*time.Millisecond, cancel)
		}
		return true
	})
}
