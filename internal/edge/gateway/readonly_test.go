package gateway_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestReadOnly: of a version of a read-only project, only requests with safe methods are answered, at
// each of its host names.
func TestReadOnly(t *testing.T) { engines(t, testReadOnly) }

func testReadOnly(t *testing.T, engine gateway.Engine) {
	var roused atomic.Int64
	b := start(t, gateway.Config{Engine: engine, Rouse: func(svc.Ref) { roused.Add(1) }})
	state := svc.Upstream{Status: svc.StatusReady, ReadOnly: true, Endpoint: svc.Endpoint{Socket: always(t, ""), PID: 1}}
	b.SetVersion(shop, state)
	b.SetProduction("shop", "v1")
	b.SetPreview("shop", "feature", "v1")
	hosts := []string{"shop.apps.test", "v1.shop.apps.test", "feature.shop.apps.test"}
	for _, host := range hosts {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, "PURGE"} {
			a, body := b.do(t, request(t, method, host, "/", strings.NewReader("x")))
			if a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Svc-Error") != svc.CodeProjectReadOnly || a.Header.Get("Retry-After") == "" {
				t.Errorf("%s %s: %s %v %s", method, host, a.Status, a.Header, body)
			}
		}
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions} {
			if a, body := b.do(t, request(t, method, host, "/", nil)); a.StatusCode != http.StatusOK {
				t.Errorf("%s %s: %s %s", method, host, a.Status, body)
			}
		}
	}
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, ReadOnly: true, Asleep: true})
	if a, _ := b.do(t, request(t, http.MethodPost, hosts[0], "/", nil)); a.Header.Get("Svc-Error") != svc.CodeProjectReadOnly || roused.Load() != 0 {
		t.Errorf("of a version that sleeps: %s, started %d times", a.Status, roused.Load())
	}
	state.ReadOnly = false
	b.SetVersion(shop, state)
	for _, host := range hosts {
		if a, body := b.do(t, request(t, http.MethodPost, host, "/", strings.NewReader("x"))); a.StatusCode != http.StatusOK {
			t.Errorf("writable again: POST %s: %s %s", host, a.Status, body)
		}
	}
}

// TestDirectReadOnly: a machine admits no request to a version of a read-only project by itself, and a
// gateway that does not know that it is read-only reaches no runtime.
func TestDirectReadOnly(t *testing.T) { engines(t, testDirectReadOnly) }

func testDirectReadOnly(t *testing.T, engine gateway.Engine) {
	c := startCluster(t, engine)
	c.generation.Store(3)
	m := c.machines[shop]
	u := svc.Upstream{Status: svc.StatusReady, ReadOnly: true, Endpoint: svc.Endpoint{
		Socket: c.sockets[shop], PID: 1, PortKey: "key of v1", Direct: m.address, DirectPin: m.pin,
	}}
	c.SetVersion(shop, u)
	svctest.Eventually(t, "the machine has no grant", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.granted) == 0
	})
	m.revoking.Wait()
	answers := make(chan string)
	for _, host := range []string{"shop.apps.test", "v1.shop.apps.test"} {
		go func() {
			a, _ := c.edge.do(t, request(t, http.MethodPost, host, "/version", strings.NewReader("x")))
			answers <- a.Header.Get("Svc-Error")
		}()
	}
	svctest.Eventually(t, "the requests wait", func() bool { return c.edge.Held() == 2 })
	u.Socket = "relay"
	c.edge.SetVersion(shop, u)
	c.edge.reach(3)
	for range 2 {
		if got := <-answers; got != svc.CodeProjectReadOnly {
			t.Errorf("the error is %q", got)
		}
	}
	u.ReadOnly, u.Socket = false, c.sockets[shop]
	c.SetVersion(shop, u)
	c.serve(shop)
	before, _ := c.edge.Ways()
	svctest.Eventually(t, "the machine admits requests by itself again", func() bool {
		a, body := c.edge.do(t, request(t, http.MethodPost, "shop.apps.test", "/version", strings.NewReader("x")))
		direct, _ := c.edge.Ways()
		return a.StatusCode == http.StatusOK && body == "v1" && direct > before
	})
}
