package gateway_test

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// callable makes ref a ready version that answers each call with its id.
func (b *bench) callable(t *testing.T, ref svc.Ref) {
	t.Helper()
	path := filepath.Join(svctest.ShortDir(t), "call.sock")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, ref.Version)
			_ = conn.Close()
		}
	}()
	b.SetVersion(ref, svc.Upstream{Status: svc.StatusReady, Endpoint: svc.Endpoint{Socket: path, Calls: path, PID: 1}})
}

// TestCall: a call reaches production or a version by name, waits while production is held,
// and counts until it ends.
func TestCall(t *testing.T) {
	t.Parallel()
	b := start(t, gateway.Config{})
	v1, v2 := svc.Ref{Project: "shop", Version: "v1"}, svc.Ref{Project: "shop", Version: "v2"}
	b.callable(t, v1)
	b.callable(t, v2)
	b.SetVersion(svc.Ref{Project: "shop", Version: "old"}, svc.Upstream{Status: svc.StatusArchived})
	b.SetProduction("shop", "v1")
	call := func(project, version string) (answer string, end func()) {
		t.Helper()
		c, err := b.Call(t.Context(), project, version)
		if err != nil {
			return svc.CodeOf(err), func() {}
		}
		text, err := io.ReadAll(c)
		if err != nil {
			t.Error(err)
		}
		return string(text), func() { _, _ = c.Close(), c.Close() }
	}
	for _, test := range []struct{ project, version, want string }{
		{"shop", "", "v1"},
		{"shop", "v2", "v2"},
		{"shop", "old", svc.CodeVersionArchived},
		{"shop", "none", svc.CodeRouteNotFound},
		{"none", "", svc.CodeRouteNotFound},
	} {
		got, end := call(test.project, test.version)
		end()
		if got != test.want {
			t.Errorf("%s/%s: %s, want %s", test.project, test.version, got, test.want)
		}
	}
	_, end := call("shop", "")
	b.Hold("shop")
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if b.DrainProduction(short, "shop") == nil {
		t.Error("a call does not count as one in flight")
	}
	held := make(chan string)
	go func() { got, end := call("shop", ""); end(); held <- got }()
	b.SetProduction("shop", "v2")
	end()
	if err := b.DrainProduction(t.Context(), "shop"); err != nil {
		t.Error(err)
	}
	b.Release("shop")
	if got := <-held; got != "v2" {
		t.Errorf("the call that was held reached %s", got)
	}
}
