//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

const cacheWorker = `export default { async fetch(request) {
  const key = "https://cache.test/" + new URL(request.url).pathname;
  if (request.method === "PUT") {
    await caches.default.put(key, new Response(await request.text(), { headers: { "Cache-Control": "max-age=3600" } }));
    return new Response("stored");
  }
  const found = await caches.default.match(key);
  return found ?? new Response("nothing", { status: 404 });
} };`

// TestCache: a worker without bindings has a cache, which outlives a restart of the
// daemon. A child and a version that was archived begin with an empty one.
func TestCache(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := worker(t, helloConfig, map[string]string{"index.js": cacheWorker})
	d.deploy(dir, "--version", "v1")
	v2 := d.deploy(dir, "--version", "v2")
	has := func(url, want string) {
		t.Helper()
		if a := d.get(url + "/a"); a.Body != want {
			t.Errorf("%s has %d %q, want %q", url, a.Status, a.Body, want)
		}
	}
	has(v2.PreviewURL, "nothing")
	if a := d.do("PUT", v2.PreviewURL+"/a", "text/plain", "kept"); a.Body != "stored" {
		t.Fatalf("put: %d %s", a.Status, a.Body)
	}
	has(v2.PreviewURL, "kept")
	child := d.deploy(dir, "--version", "v3", "--parent", "v2")
	has(child.PreviewURL, "nothing")
	d.kill()
	if !d.start() {
		t.Fatal("the daemon does not start again")
	}
	d.served(v2.PreviewURL)
	has(v2.PreviewURL, "kept")
	d.ok(dir, "versions", "archive", "hello/v2")
	d.ok(dir, "versions", "wake", "hello/v2")
	has(v2.PreviewURL, "nothing")
	if strings.Contains(d.log.String(), "cannot store a response") {
		t.Error("the cache failed")
	}
}
