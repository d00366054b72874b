package httpapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/obs"
	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestServerPages: settings, tokens, routes, machines, gateways, leases and log of the server. A token that reads
// does not see the log.
func TestServerPages(t *testing.T) {
	t.Parallel()
	recent := obs.NewRecent(nil)
	b := startPages(t, func(d *httpapi.Deps) { d.ServerLog = recent })
	log := recent.Logger(obs.NewLogger(io.Discard, obs.LogOptions{}))
	log.Warn("janitor failed; retrying", "error", "<svg onload=x()>")
	b.project("shop")
	b.ready("shop", "v-1")
	b.version("shop", "v-2")
	b.signIn(adminToken)
	shows := func(path string, texts ...string) {
		t.Helper()
		if got := b.get(path); got != http.StatusOK {
			t.Fatalf("%s: %d %s", path, got, b.page)
		}
		for _, text := range texts {
			if !strings.Contains(b.page, text) {
				t.Errorf("%s lacks %s: %s", path, text, b.page)
			}
		}
	}
	shows("/server", "Tokens", "<td>deploy</td>", `href="/server/log"`, `href="/server/leases"`)
	shows("/server/routes", "No version serves.")
	shows("/server/nodes", `<th scope="row">m1</th>`, `<a href="/p/shop/v/v-1/process">shop/v-1</a>, <a href="/p/shop/v/v-2/process">shop/v-2</a>`, "40.0 MiB",
		`<th scope="row">pod-1 <span class="dim">on node-a</span></th><td><span class="wrap"><span class="dim">none</span>`)
	shows("/server/gateways", `<th scope="row">server</th><td>127.0.0.1:8787</td><td>current</td>`, `<th scope="row">edge</th><td>0.0.0.0:8787</td><td><span class="bad">away</span></td>`)
	shows("/server/leases", `shop/v-1</a></th><td>live</td><td>this server <span class="tag">taken over</span>`, `shop/v-2</a></th><td>none</td>`, "valid for 15 s", "stopped")
	shows("/server/log", "janitor failed; retrying error=&#34;&lt;svg onload=x()&gt;&#34;", "/server/log/stream?cursor=")
	shows("/server/log?level=error", "No entry matches the filter.")
	if strings.Contains(b.page, `name="status"`) {
		t.Error("the log of the server has no requests to filter")
	}
	b.signIn("token-of-team")
	shows("/server/leases", "shop/v-1")
	if strings.Contains(b.page, `href="/server/log"`) {
		t.Error("the log is offered to a token that reads")
	}
	if got := b.get("/server/log"); got != http.StatusForbidden {
		t.Errorf("the log of the server with a token that reads: %d", got)
	}
	if got := b.get("/server/log/stream"); got != http.StatusForbidden {
		t.Errorf("the stream of that log: %d", got)
	}
}

// TestPlaceOfAVersionOnPages: the page of the process names the machine, or the pod and its node.
func TestPlaceOfAVersionOnPages(t *testing.T) {
	t.Parallel()
	b := startPages(t)
	b.project("shop")
	b.ready("shop", "v-1")
	b.signIn("token-of-team") // the crons of an admin need a runtime
	for want, at := range map[string]svc.Endpoint{
		`<dt>Machine</dt><dd>m1</dd>`:                                   {Node: "m1"},
		`<dt>Pod</dt><dd>pod-1 <span class="dim">on node-a</span></dd>`: {Node: "pod-1", ClusterNode: "node-a"},
		`<dd>serving</dd></div><div><dt>Restarts</dt>`:                  {},
	} {
		v := svc.Ref{Project: "shop", Version: "v-1"}
		b.fakes.runtimes = map[svc.Ref]svc.Runtime{v: {Ref: v, State: svc.RuntimeServing, Endpoint: at}}
		if got := b.get("/p/shop/v/v-1/process"); got != http.StatusOK || !strings.Contains(b.page, want) {
			t.Errorf("%d without %s: %s", got, want, b.page)
		}
	}
}

// TestActivityPage: events say what happened and who did it, and a deploy that waits can be canceled there and on
// its page.
func TestActivityPage(t *testing.T) {
	t.Parallel()
	b := startPages(t)
	b.project("shop")
	b.ready("shop", "v-1")
	b.version("shop", "waits")
	b.do(request{method: "PATCH", path: "/v1/projects/shop", body: `{"guard":true}`}).want(200)
	b.signIn(adminToken)
	svctest.Eventually(t, "the audit event", func() bool {
		return b.get("/activity") == http.StatusOK && strings.Contains(b.page, "the settings of shop")
	})
	for _, text := range []string{`>admin changed the settings of shop`, "waits, place 2", `href="/p/shop/v/waits/destroy" data-dialog>Cancel</a>`} {
		if !strings.Contains(b.page, text) {
			t.Errorf("the page lacks %s: %s", text, b.page)
		}
	}
	if b.get("/p/shop/v/waits"); !strings.Contains(b.page, "Cancel the deploy…") {
		t.Error("the page of a version that deploys does not offer to cancel that")
	}
	if b.get("/p/shop/v/waits/destroy"); !strings.Contains(b.page, "Its deploy is canceled.") {
		t.Errorf("%s", b.page)
	}
	if b.get("/p/shop/v/v-1"); strings.Contains(b.page, "Cancel the deploy") {
		t.Error("offered for a version that is ready")
	}
}

// TestLoadOfVersions: the list shows memory, requests in flight and websockets, of all host names together.
func TestLoadOfVersions(t *testing.T) {
	t.Parallel()
	b := startPages(t)
	b.project("shop")
	b.ready("shop", "v-1")
	v := svc.Ref{Project: "shop", Version: "v-1"}
	for _, host := range []string{"shop.test", "v-1.shop.test"} {
		b.fakes.routes = append(b.fakes.routes, svc.Route{Host: host, Ref: v, Inflight: 2, Websockets: 3, Runtime: svc.Runtime{RSSBytes: 90 << 20}})
	}
	b.signIn(adminToken)
	const cells = `<td class="num lo">4 <span class="dim">6 WS</span></td>
<td class="num lo">90.0 MiB</td>`
	for _, path := range []string{"/p/shop", "/p/shop/row/v-1"} {
		if b.get(path) != http.StatusOK || !strings.Contains(b.page, cells) {
			t.Errorf("%s: %s", path, b.page)
		}
	}
}
