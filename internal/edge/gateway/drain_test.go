package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestDrainVersion checks that a drain waits for the last request of an archived
// version, which is answered, and that new requests are refused meanwhile.
// spec: [C6.9]
func TestDrainVersion(t *testing.T) { engines(t, testDrainVersion) }

func testDrainVersion(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	begun, finish := make(chan struct{}), make(chan struct{})
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
		if _, _, ok := c.next(); !ok {
			return
		}
		close(begun)
		<-finish
		c.reply("200 OK", "last")
	}))
	type result struct {
		answer
		body string
	}
	got := make(chan result, 1)
	go func() {
		a, body := b.get(t, "v1.shop.apps.test", "/")
		got <- result{a, body}
	}()
	<-begun
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusArchived})
	if a, _ := b.get(t, "v1.shop.apps.test", "/"); a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Svc-Error") != "version_archived" {
		t.Errorf("%s %s", a.Status, a.Header.Get("Svc-Error"))
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.DrainVersion(over, shop); !errors.Is(err, context.Canceled) {
		t.Errorf("with a request in flight: %v", err)
	}
	drained := make(chan error, 1)
	go func() { drained <- b.DrainVersion(t.Context(), shop) }()
	close(finish)
	if r := <-got; r.StatusCode != http.StatusOK || r.body != "last" {
		t.Errorf("the last request: %s %q", r.Status, r.body)
	}
	if err := <-drained; err != nil {
		t.Error(err)
	}
	b.RemoveVersion(shop)
	if err := b.DrainVersion(t.Context(), shop); err != nil {
		t.Errorf("an unknown version: %v", err)
	}
}
