package gateway_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestPreviewSwitch checks that no request to a preview name fails while the name moves
// to another version and the version before is archived, and that only the new version
// answers after it.
func TestPreviewSwitch(t *testing.T) { engines(t, testPreviewSwitch) }

func testPreviewSwitch(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	sockets := map[string]string{"v1": startWorker(t, "v1").socket, "v2": startWorker(t, "v2").socket}
	b.ready(svc.Ref{Project: "shop", Version: "v1"}, sockets["v1"])
	b.SetPreview("shop", "feature", "v1")
	stop := make(chan struct{})
	var clients sync.WaitGroup
	var asked atomic.Int64
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if got, body := b.get(t, "feature.shop.apps.test", "/version"); got.StatusCode != http.StatusOK {
					t.Errorf("%d %s", got.StatusCode, body)
				}
				asked.Add(1)
			}
		})
	}
	for n := range 10 {
		old, next := []string{"v1", "v2"}[n%2], []string{"v2", "v1"}[n%2]
		enough := asked.Load() + 10
		svctest.Eventually(t, "requests are answered", func() bool { return asked.Load() > enough || t.Failed() })
		b.HoldPreview("shop", "feature")
		b.ready(svc.Ref{Project: "shop", Version: next}, sockets[next])
		b.SetPreview("shop", "feature", next)
		b.ReleasePreview("shop", "feature")
		b.SetVersion(svc.Ref{Project: "shop", Version: old}, svc.Upstream{Status: svc.StatusArchived})
		if _, body := b.get(t, "feature.shop.apps.test", "/version"); body != next {
			t.Errorf("after the switch to %s, %s answers", next, body)
		}
	}
	close(stop)
	clients.Wait()
}

// TestPreviewNames checks the answers of a name without a version, of a held one that is
// removed, and of one whose version is archived.
func TestPreviewNames(t *testing.T) { engines(t, testPreviewNames) }

func testPreviewNames(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	const host = "feature.shop.apps.test"
	if got, _ := b.get(t, host, "/"); got.StatusCode != http.StatusNotFound {
		t.Errorf("unknown name: %d", got.StatusCode)
	}
	b.HoldPreview("shop", "feature")
	answered := make(chan int)
	go func() {
		got, _ := b.get(t, host, "/")
		answered <- got.StatusCode
	}()
	svctest.Eventually(t, "the request waits", func() bool { return b.Inflight() == 1 })
	b.SetPreview("shop", "feature", "")
	if status := <-answered; status != http.StatusNotFound {
		t.Errorf("a held request of a removed name: %d", status)
	}
	b.SetVersion(svc.Ref{Project: "shop", Version: "v1"}, svc.Upstream{Status: svc.StatusArchived})
	b.SetPreview("shop", "feature", "v1")
	if got, _ := b.get(t, host, "/"); got.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a name whose version is archived: %d", got.StatusCode)
	}
}
