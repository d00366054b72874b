package gateway_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestExceptions(t *testing.T) { engines(t, testExceptions) }

// testExceptions: a preview host shows what the worker threw, a production host does not.
func testExceptions(t *testing.T, engine gateway.Engine) {
	var asked svc.Ref
	long := "Error: <boom>\n    at fetch (src/index.ts:3:9)\n" + strings.Repeat("    at f (a.ts:1:1)\n", 3000)
	o := &observer{}
	b := start(t, gateway.Config{Engine: engine, Observer: o, Exception: func(_ context.Context, ref svc.Ref, id string, since time.Time) string {
		if asked = ref; len(id) != 16 || time.Since(since) > timeout {
			t.Errorf("asked for %q since %v", id, since)
		}
		return long
	}})
	b.ready(shop, startWorker(t, "v1").socket)
	b.SetProduction("shop", "v1")

	resp, body := b.get(t, "v1.shop.apps.test", "/throw")
	id := resp.Header.Get("X-Request-Id")
	command := "svcctl logs shop/v1 --request " + id[:16]
	if want := long + "\n\nrequest " + id[:16] + "\n" + command + "\n"; resp.StatusCode != http.StatusInternalServerError || body != want || asked != shop {
		t.Errorf("%s %s, about %v", resp.Status, body, asked)
	}
	if resp.Header.Get("Content-Type") != "text/plain;charset=UTF-8" || resp.Header.Get("Svc-Version") != "v1" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", resp.Header)
	}
	browser := request(t, http.MethodGet, "v1.shop.apps.test", "/throw", nil)
	browser.Header.Set("Accept", "text/html,*/*")
	resp, body = b.do(t, browser)
	for _, want := range []string{"<h1>Error: &lt;boom&gt;</h1>", "src/index.ts:3:9", "@media(prefers-color-scheme:dark)", "svcctl logs shop/v1 --request " + resp.Header.Get("X-Request-Id")[:16]} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q:\n%.900s", want, body)
		}
	}
	if resp, body = b.do(t, request(t, http.MethodHead, "v1.shop.apps.test", "/throw", nil)); resp.StatusCode != http.StatusInternalServerError || body != "" || resp.ContentLength < int64(len(long)) {
		t.Errorf("HEAD: %s, %d bytes, %q", resp.Status, resp.ContentLength, body)
	}

	asked = svc.Ref{}
	resp, body = b.get(t, "shop.apps.test", "/throw")
	if body != "Internal Server Error" || resp.Header.Get("Content-Type") != "text/plain;charset=UTF-8" || resp.Header.Get("X-Request-Id") == "" || asked != (svc.Ref{}) {
		t.Errorf("production: %s %v %q", resp.Status, resp.Header, body)
	}
	resp, body = b.get(t, "v1.shop.apps.test", "/own500")
	if body != "Internal Server Error" || resp.Header.Get("Content-Type") != "" || asked != (svc.Ref{}) {
		t.Errorf("the worker's own: %s %v %q", resp.Status, resp.Header, body)
	}
	svctest.Eventually(t, "the observer is called", func() bool { return o.count() == 5 })
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, r := range o.requests {
		if r.Status != http.StatusInternalServerError || r.Threw != (i < 4) {
			t.Errorf("request %d: %+v", i, r)
		}
	}
}

func TestUnknownException(t *testing.T) { engines(t, testUnknownException) }

// testUnknownException: the page of an exception that the log does not have names a
// command that helps.
func testUnknownException(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, Exception: func(context.Context, svc.Ref, string, time.Time) string { return "" }})
	b.ready(shop, startWorker(t, "v1").socket)
	if _, body := b.get(t, "v1.shop.apps.test", "/throw"); !strings.Contains(body, "has no exception") || !strings.Contains(body, "svcctl logs shop/v1 --since 1m") {
		t.Error(body)
	}
}
