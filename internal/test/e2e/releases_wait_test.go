//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// deferring answers immediately, and writes in waitUntil after a time.
const deferring = `export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams: asked } = new URL(request.url);
    if (pathname === "/all") return Response.json((await env.DB.prepare("SELECT text FROM lines ORDER BY 1").raw()).flat());
    if (pathname === "/write") ctx.waitUntil((async () => {
      await scheduler.wait(Number(asked.get("after")));
      await env.DB.prepare("INSERT INTO lines VALUES (?)").bind(asked.get("text")).run();
    })());
    return new Response(env.VERSION_ID);
  },
};`

// deployDeferring deploys v1, which is production, and a candidate.
func (d *daemon) deployDeferring() api.Version {
	d.t.Helper()
	dir := worker(d.t, `{ "name": "deferring", "main": "index.js", "compatibility_date": "2026-11-01", "d1_databases": [{ "binding": "DB", "database_name": "deferring" }] }`,
		map[string]string{"index.js": deferring, "migrations/0001_lines.sql": "CREATE TABLE lines (text TEXT PRIMARY KEY) STRICT;"})
	v1 := d.deploy(dir, "--version", "v1")
	d.deploy(dir, "--version", "check", "--parent", "v1")
	return v1
}

// TestReleaseWaitsForWaitUntil: what a request that was answered writes later is in the new version.
func TestReleaseWaitsForWaitUntil(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_RELEASE_DRAIN=5s", "SVC_RELEASE_HOLD=20s")
	v1 := d.deployDeferring()
	if a := d.get(v1.ProdURL + "/write?text=one&after=3000"); a.Body != "v1" {
		t.Fatalf("%+v", a)
	}
	if p := d.released("deferring", "check", api.ReleaseVersion{VersionID: "v2"}); p.Status != api.PromotionStatusDone {
		t.Fatalf("%s %s", p.Status, p.Error)
	}
	if a := d.get(v1.ProdURL + "/"); a.Body != "v2" {
		t.Errorf("production is %s", a.Body)
	}
	if a := d.get(v1.ProdURL + "/all"); a.Body != `["one"]` {
		t.Errorf("production has %s", a.Body)
	}
}

// TestReleaseBusyByWaitUntil: work that outlasts the drain undoes the release, and continues; with
// late_requests=refuse the release is done.
func TestReleaseBusyByWaitUntil(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_RELEASE_DRAIN=300ms")
	v1 := d.deployDeferring()
	d.get(v1.ProdURL + "/write?text=one&after=10000")
	if p := d.released("deferring", "check", api.ReleaseVersion{}); p.Status != api.PromotionStatusFailed ||
		!strings.HasPrefix(p.Error, "pause: release_busy: ") || !strings.Contains(p.Error, "waitUntil (1)") {
		t.Fatalf("%s %s", p.Status, p.Error)
	}
	svctest.Eventually(t, "the late write to be in production", func() bool { return d.get(v1.ProdURL+"/all").Body == `["one"]` })
	d.get(v1.ProdURL + "/write?text=two&after=10000")
	if p := d.released("deferring", "check", api.ReleaseVersion{LateRequests: api.ReleaseVersionLateRequestsRefuse}); p.Status != api.PromotionStatusDone {
		t.Fatalf("%s %s", p.Status, p.Error)
	}
	if a := d.get(v1.ProdURL + "/all"); a.Body != `["one"]` {
		t.Errorf("production has %s", a.Body)
	}
}
