//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

const scriptWorker = `addEventListener("fetch", (event) => event.respondWith(answer(event)));
async function answer(event) {
  await KV.put("k", "from KV");
  await caches.default.put("https://cache.test/", new Response("from the cache", { headers: { "Cache-Control": "max-age=60" } }));
  event.waitUntil(KV.put("later", "x"));
  const { text } = await DB.prepare("SELECT 'from D1' AS text").first();
  const cached = await (await caches.default.match("https://cache.test/")).text();
  return Response.json([await KV.get("k"), text, cached, VERSION_ID, WORD, await KV.get("ran")]);
}
addEventListener("scheduled", (event) => event.waitUntil(KV.put("ran", event.cron)));
addEventListener("fetch", () => { Promise.reject(new Error("without a handler")); });`

// TestServiceWorkerFormat: bindings and variables are globals of a worker that registers
// its handlers, requests and scheduled runs reach it, and its exceptions are in its log.
func TestServiceWorkerFormat(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := worker(t, `{ "name": "old", "main": "index.js", "compatibility_date": "2026-11-01", "vars": { "WORD": "word" },
  "kv_namespaces": [{ "binding": "KV" }], "d1_databases": [{ "binding": "DB", "database_name": "d" }] }`, map[string]string{"index.js": scriptWorker})
	v := d.deploy(dir, "--version", "v1")
	if a := d.get(v.PreviewURL); a.Body != `["from KV","from D1","from the cache","v1","word",null]` {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if r, err := d.trigger(t.Context(), v, "* * * * *", 0); err != nil || r.Outcome != "ok" {
		t.Errorf("the scheduled run: %+v, %v", r, err)
	}
	if a := d.get(v.PreviewURL); !strings.HasSuffix(a.Body, `"* * * * *"]`) {
		t.Errorf("after the scheduled run: %d %s", a.Status, a.Body)
	}
	d.logs(v, "Unhandled rejection: Error: without a handler")
}
