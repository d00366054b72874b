//go:build e2e

package e2e

import (
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestReleaseOnMachines: a release of a version that runs on another machine; the server is killed
// while the data is sealed there. The sealed worker host ends by itself, the next server undoes the
// release, and no write is lost.
func TestReleaseOnMachines(t *testing.T) {
	t.Parallel()
	d, _ := fleetOf(t, 2, "GATEWAY_PORT="+freePort(t))
	prod := d.deploy(ledgerDir, "--version", "v1").ProdURL
	d.deploy(ledgerDir, "--version", "check", "--parent", "v1", "--var", "ROUND:two")
	writers := d.writeTo(prod, 2)
	writers.succeed(20)
	d.kill()
	if !d.start("SVC_FAILPOINT=release/seal/done") {
		t.Fatal("the daemon does not start")
	}
	writers.succeed(20)
	_, _ = d.client().Release(t.Context(), "ledger", "check", api.ReleaseVersion{VersionID: "lost"})
	d.died()
	if !d.start() {
		t.Fatal("the daemon does not start again")
	}
	d.oneOutcome("the seal", "lost", "v1")
	writers.succeed(20)
	p := d.released("ledger", "check", api.ReleaseVersion{VersionID: "v2"})
	if p.Status != api.PromotionStatusDone {
		t.Fatalf("%s %s", p.Status, p.Error)
	}
	writers.succeed(20)
	d.checkLines(prod, writers.end())
	svctest.Eventually(t, "production to be the new version", func() bool { return d.get(prod+"/who").Header.Get("Svc-Version") == "v2" })
}

// delivers is a worker that keeps the last message of its queue.
const delivers = `export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname === "/send") await env.JOBS.send("one");
    return new Response((await env.KV.get("got")) ?? "nothing");
  },
  queue: (batch, env) => env.KV.put("got", batch.messages[0].body),
};`

// TestReleasePausedOnMachines: the server is killed while a release has the events of a version on another
// machine paused. The worker host stays, the next server undoes the release, and events begin again.
func TestReleasePausedOnMachines(t *testing.T) {
	t.Parallel()
	d, _ := fleetOf(t, 1, "GATEWAY_PORT="+freePort(t))
	dir := worker(t, `{ "name": "ledger", "main": "index.js", "compatibility_date": "2026-11-01", "kv_namespaces": [{ "binding": "KV" }],
		"queues": { "producers": [{ "binding": "JOBS", "queue": "jobs" }], "consumers": [{ "queue": "jobs", "max_batch_timeout": 0 }] } }`,
		map[string]string{"index.js": delivers})
	v1 := d.deploy(dir, "--version", "v1")
	d.deploy(dir, "--version", "check", "--parent", "v1")
	d.kill()
	if !d.start("SVC_FAILPOINT=release/pause/done") {
		t.Fatal("the daemon does not start")
	}
	d.served(v1.ProdURL)
	host := d.hostOf(v1)
	_, _ = d.client().Release(t.Context(), "ledger", "check", api.ReleaseVersion{VersionID: "lost"})
	d.died()
	if !d.start() {
		t.Fatal("the daemon does not start again")
	}
	d.oneOutcome("the pause", "lost", "v1")
	d.served(v1.ProdURL + "/send")
	svctest.Eventually(t, "the message to be delivered", func() bool { return d.get(v1.ProdURL).Body == "one" })
	if now := d.hostOf(v1); now != host || host == 0 {
		t.Errorf("the version runs in process %d, before the kill in %d", now, host)
	}
}
