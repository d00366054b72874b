package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestCutOverUnderLoad checks that no request fails while the production host changes
// between two versions, and that only the new version answers after each change.
// spec: [C6.4]
func TestCutOverUnderLoad(t *testing.T) { engines(t, testCutOverUnderLoad) }

func testCutOverUnderLoad(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	for _, v := range []string{"v1", "v2"} {
		b.ready(svc.Ref{Project: "shop", Version: v}, startWorker(t, v).socket)
	}
	b.SetProduction("shop", "v1")
	stop := make(chan struct{})
	var clients sync.WaitGroup
	var asked atomic.Int64
	for i := range 8 {
		clients.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				method, body := http.MethodGet, ""
				if (n+i)%3 == 0 {
					method, body = http.MethodPost, strings.Repeat("x", n%5000)
				}
				req := request(t, method, "shop.apps.test", "/version", strings.NewReader(body))
				resp, err := b.client.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					t.Errorf("%s %v", resp.Status, resp.Header)
				}
				asked.Add(1)
			}
		})
	}
	for n := range 30 {
		target := []string{"v2", "v1"}[n%2]
		enough := asked.Load() + 20
		svctest.Eventually(t, "requests are answered", func() bool { return asked.Load() > enough || t.Failed() })
		b.Hold("shop")
		if err := b.DrainProduction(t.Context(), "shop"); err != nil {
			t.Error(err)
		}
		b.SetProduction("shop", target)
		b.Release("shop")
		if _, body := b.get(t, "shop.apps.test", "/version"); body != target {
			t.Errorf("after the cut-over to %s, %s answers", target, body)
		}
	}
	close(stop)
	clients.Wait()
}

func TestHeldRequestsWait(t *testing.T) { engines(t, testHeldRequestsWait) }

func testHeldRequestsWait(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	v2 := svc.Ref{Project: "shop", Version: "v2"}
	b.ready(shop, always(t, "old"))
	b.ready(v2, always(t, "new"))
	b.SetProduction("shop", "v1")
	b.Hold("shop")
	b.Hold("shop")
	if _, body := b.get(t, "v1.shop.apps.test", "/"); body != "old" {
		t.Errorf("preview hosts are not held: %q", body)
	}
	answers := make(chan string)
	for range 3 {
		go func() {
			resp, body := b.do(t, request(t, http.MethodPost, "shop.apps.test", "/", strings.NewReader("body")))
			answers <- fmt.Sprint(resp.StatusCode, body, resp.Header.Get("Svc-Version"))
		}()
	}
	svctest.Eventually(t, "the requests wait", func() bool { return b.Held() == 3 })
	b.SetProduction("shop", "v2")
	b.Release("shop")
	b.Release("shop")
	for range 3 {
		if got := <-answers; got != "200newv2" {
			t.Error(got)
		}
	}
}

func TestHoldIsBounded(t *testing.T) { engines(t, testHoldIsBounded) }

func testHoldIsBounded(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, HoldTimeout: 40 * time.Millisecond, MaxHeld: 1})
	b.ready(shop, always(t, "x"))
	b.SetProduction("shop", "v1")
	b.Hold("shop")
	check := func(resp answer) {
		t.Helper()
		if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "1" || resp.Header.Get("Svc-Error") != "version_not_ready" {
			t.Errorf("%s %v", resp.Status, resp.Header)
		}
	}
	resp, _ := b.get(t, "shop.apps.test", "/")
	check(resp) // the time limit was reached
	c := b.raw(t)
	c.send("GET / HTTP/1.1\r\nHost: shop.apps.test\r\n\r\n")
	b2 := start(t, gateway.Config{Engine: engine, MaxHeld: 1})
	b2.ready(shop, always(t, "x"))
	b2.SetProduction("shop", "v1")
	b2.Hold("shop")
	first := b2.raw(t)
	first.send("GET / HTTP/1.1\r\nHost: shop.apps.test\r\n\r\n")
	svctest.Eventually(t, "the first waits", func() bool { return b2.Held() == 1 })
	resp, _ = b2.get(t, "shop.apps.test", "/")
	check(resp) // above MaxHeld
	first.Close()
	svctest.Eventually(t, "a client that leaves is no longer held", func() bool { return b2.Held() == 0 })
}

// TestDrainProduction checks that a drain waits for the requests that were claimed
// through the production host before the hold, and for no others.
func TestDrainProduction(t *testing.T) { engines(t, testDrainProduction) }

func testDrainProduction(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	w := startWorker(t, "v1")
	b.ready(shop, w.socket)
	b.SetProduction("shop", "v1")
	wait := func(host, id string) *raw {
		c := b.raw(t)
		c.send("GET /hang?id=" + id + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
		svctest.Wait(t, id, w.gate("began-"+id))
		return c
	}
	wait("v1.shop.apps.test", "preview")
	b.websocket(t, "shop.apps.test")
	b.Hold("shop")
	if err := b.DrainProduction(t.Context(), "shop"); err != nil {
		t.Errorf("previews and websockets do not count: %v", err)
	}
	b.Release("shop")

	production := wait("shop.apps.test", "production")
	b.Hold("shop")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := b.DrainProduction(ctx, "shop"); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1 requests") {
		t.Errorf("%v", err)
	}
	b.Release("shop")
	wait("shop.apps.test", "after")
	drained := make(chan error)
	go func() { drained <- b.DrainProduction(t.Context(), "shop") }()
	production.Close()
	if err := <-drained; err != nil {
		t.Errorf("requests claimed after the hold do not count: %v", err)
	}
	if err := b.DrainProduction(t.Context(), "unknown"); err != nil {
		t.Error(err)
	}
}

// TestRestartOfARuntime checks that requests wait for a runtime that restarts.
func TestRestartOfARuntime(t *testing.T) { engines(t, testRestartOfARuntime) }

func testRestartOfARuntime(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, Starting: true})
	answers := make(chan string)
	go func() { _, body := b.get(t, "v1.shop.apps.test", "/"); answers <- body }()
	svctest.Eventually(t, "the request waits", func() bool { return b.Held() == 1 })
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, Starting: true, Endpoint: svc.Endpoint{PID: 7}}) // still starting
	b.ready(shop, always(t, "restarted"))
	if got := <-answers; got != "restarted" {
		t.Error(got)
	}

	planned := start(t, gateway.Config{Engine: engine, StartWait: time.Nanosecond}) // does not apply to a planned restart
	planned.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, Starting: true, Planned: true})
	go func() { _, body := planned.get(t, "v1.shop.apps.test", "/"); answers <- body }()
	svctest.Eventually(t, "the request waits", func() bool { return planned.Held() == 1 })
	planned.ready(shop, always(t, "with other variables"))
	if got := <-answers; got != "with other variables" {
		t.Error(got)
	}

	short := start(t, gateway.Config{Engine: engine, StartWait: 20 * time.Millisecond})
	short.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, Starting: true})
	resp, _ := short.get(t, "v1.shop.apps.test", "/")
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Svc-Error") != "version_not_ready" || resp.Header.Get("Retry-After") == "" {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
}

// TestWaitForARestart checks that requests to a version that crashed and waits are
// refused, and reported.
func TestWaitForARestart(t *testing.T) { engines(t, testWaitForARestart) }

func testWaitForARestart(t *testing.T, engine gateway.Engine) {
	asked := make(chan svc.Ref, 1)
	b := start(t, gateway.Config{Engine: engine, Asked: func(ref svc.Ref) { asked <- ref }})
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, RetryAt: time.Now().Add(10 * time.Hour)})
	if b.IsWanted(shop) {
		t.Error("a version without a request is wanted")
	}
	resp, body := b.get(t, "v1.shop.apps.test", "/")
	after, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Svc-Error") != "runtime_restarting" || err != nil || after < 30000 || after > 36000 {
		t.Errorf("%s %v %s", resp.Status, resp.Header, body)
	}
	if got := <-asked; got != shop || !b.IsWanted(shop) || b.LastRequests()[shop].IsZero() {
		t.Errorf("%s is reported; wanted: %v", got, b.IsWanted(shop))
	}
	other := svc.Ref{Project: "shop", Version: "v2"}
	b.ready(other, "/unused")
	if b.IsWanted(other) {
		t.Error("a version without a request is wanted")
	}
	b.SetProduction("shop", "v2")
	if !b.IsWanted(other) {
		t.Error("production is not wanted")
	}
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, RetryAt: time.Now()})
	if resp, _ := b.get(t, "v1.shop.apps.test", "/"); resp.Header.Get("Retry-After") != "1" {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
}

// TestCrashOfARuntime kills a runtime under load of safe requests; its successor
// listens at another socket. A request without a response yet gets one, or 502.
func TestCrashOfARuntime(t *testing.T) { engines(t, testCrashOfARuntime) }

func testCrashOfARuntime(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	first, second := startWorker(t, "one"), startWorker(t, "two")
	b.ready(shop, first.socket)
	stop := make(chan struct{})
	var clients sync.WaitGroup
	var fromSecond atomic.Int64
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				resp, body := b.get(t, "v1.shop.apps.test", "/version")
				switch {
				case resp.StatusCode == http.StatusOK && body == "two":
					fromSecond.Add(1)
				case resp.StatusCode == http.StatusOK && body == "one", resp.Header.Get("Svc-Error") == "runtime_unavailable":
				default:
					t.Errorf("%s %v %q", resp.Status, resp.Header, body)
				}
			}
		})
	}
	if err := first.process.Kill(); err != nil {
		t.Fatal(err)
	}
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, Starting: true})
	b.SetVersion(shop, svc.Upstream{Status: svc.StatusReady, Endpoint: svc.Endpoint{Socket: second.socket, PID: 2}})
	svctest.Eventually(t, "the new process answers", func() bool { return fromSecond.Load() > 50 || t.Failed() })
	close(stop)
	clients.Wait()
}

// TestCutOver: the times of a change of production. The window needs a request that
// waited, and it has the answers of both versions at its ends.
func TestCutOver(t *testing.T) { engines(t, testCutOver) }

func testCutOver(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine})
	v2 := svc.Ref{Project: "shop", Version: "v2"}
	b.ready(shop, always(t, "old"))
	b.ready(v2, always(t, "new"))
	b.SetProduction("shop", "v1")
	b.Hold("shop")
	b.Release("shop")
	if got := b.CutOver("shop"); got != (svc.CutOver{}) {
		t.Errorf("a hold without a change: %+v", got)
	}
	b.Hold("shop")
	b.SetProduction("shop", "v2")
	b.Release("shop")
	b.get(t, "shop.apps.test", "/")
	if got := b.CutOver("shop"); got.Held <= 0 || got.Window != 0 {
		t.Errorf("no request waited: %+v", got)
	}
	svctest.Eventually(t, "the end of the request is recorded", func() bool { return b.Inflight() == 0 })
	b.Hold("shop")
	answered := make(chan string)
	go func() { _, body := b.get(t, "shop.apps.test", "/"); answered <- body }()
	svctest.Eventually(t, "the request waits", func() bool { return b.Held() == 1 })
	b.SetProduction("shop", "v1")
	b.Release("shop")
	if got := <-answered; got != "old" {
		t.Errorf("answer %q", got)
	}
	svctest.Eventually(t, "the answer is recorded", func() bool { return b.CutOver("shop").Window > 0 })
	if got := b.CutOver("shop"); got.Window < got.Held {
		t.Errorf("the old version answered nothing during the hold: %+v", got)
	}
	if got := b.CutOver("unknown"); got != (svc.CutOver{}) {
		t.Errorf("an unknown project: %+v", got)
	}
}
