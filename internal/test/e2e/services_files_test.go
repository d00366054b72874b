//go:build e2e

package e2e

import "testing"

// TestServicesOfSites: a worker in front of site workers. Its calls reach the static files first, then the
// worker, whose default export is no class.
func TestServicesOfSites(t *testing.T) {
	t.Parallel()
	d := started(t)
	d.deploy(worker(t, `{ "name": "site", "main": "index.js", "compatibility_date": "2026-11-01", "assets": { "directory": "public", "run_worker_first": ["/members/*"] },
		"services": [{ "binding": "SELF", "service": "site" }] }`, map[string]string{
		"index.js": `export default {
			honey: "prop",
			busyBee(x) { return "bee " + x; },
			async fetch(request, env) {
				if (request.url.endsWith("/self")) return env.SELF.fetch("http://site.test/logo.txt");
				return new Response("worker " + new URL(request.url).pathname + " " + Object.keys(env));
			},
		};`,
		"public/logo.txt": "the logo", "public/members/a.txt": "members only",
	}), "--version", "v1")
	v := d.deploy(worker(t, `{ "name": "router", "main": "index.js", "compatibility_date": "2026-11-01", "services": [{ "binding": "SITE", "service": "site" }] }`, map[string]string{
		"index.js": `export default { async fetch(request, { SITE }) {
			const { pathname } = new URL(request.url);
			if (pathname === "/rpc") return Response.json([await SITE.honey, await SITE.busyBee("q")]);
			return SITE.fetch(request);
		} };`,
	}), "--version", "v1")
	for path, want := range map[string]string{
		"/logo.txt": "the logo", "/none": "worker /none PROJECT_ID,VERSION_ID,SELF", "/members/a.txt": "worker /members/a.txt PROJECT_ID,VERSION_ID,SELF",
		"/self": "the logo", "/rpc": `["prop","bee q"]`,
	} {
		if got := d.get(v.PreviewURL + path); got.Body != want {
			t.Errorf("%s: %d %q, want %q", path, got.Status, got.Body, want)
		}
	}
}
