//go:build e2e

package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestReleaseWatch: a release that throws is undone by the server itself, also one that is started
// again meanwhile, and no write is lost.
func TestReleaseWatch(t *testing.T) {
	t.Parallel()
	d := started(t)
	const config = `{ "name": "watched", "main": "index.js", "compatibility_date": "2026-11-01", "kv_namespaces": [{ "binding": "KV" }] }`
	code := func(answer string) string {
		return worker(t, config, map[string]string{"index.js": `export default { async fetch(request, env) {
			const key = new URL(request.url).searchParams.get("put");
			if (key) await env.KV.put(key, "written");
			` + answer + `
		} }`})
	}
	prod := d.deploy(code(`return new Response((await env.KV.list()).keys.map(k => k.name).join(" "))`), "--version", "v1").ProdURL
	d.ok("", "promote", "watched/v1", "--leave-writes")
	if a := d.get(prod + "/?put=before"); a.Body != "before" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	d.deploy(code(`throw new Error("broken")`), "--version", "v2-check", "--parent", "v1")
	d.refused(d.admin(http.MethodPost, "/v1/projects/watched/versions/v2-check/release", `{ "watch": { "seconds": 60, "abort_on": "errors<1" } }`),
		http.StatusUnprocessableEntity, "invalid_release", "/watch/abort_on")
	p := d.release("watched", "v2-check", api.ReleaseVersion{VersionID: "v2", Watch: &api.ReleaseWatch{Seconds: 3600, AbortOn: "exceptions>3"}})
	if p.Watch == nil || p.Watch.State != "watching" || p.Watch.AbortOn != "exceptions>3" {
		t.Fatalf("the watch begins as %+v", p.Watch)
	}
	d.kill()
	if !d.start() {
		t.Fatal(d.log.String())
	}
	d.served(prod + "/?put=broken")
	for range 4 {
		if a := d.get(prod + "/?put=broken"); a.Status != http.StatusInternalServerError {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	svctest.Eventually(t, "the watch to end", func() bool {
		var err error
		p, err = d.client().Promotion(t.Context(), "watched", p.OperationID)
		return err == nil && p.Watch.State != "watching"
	})
	if p.Watch.State != "aborted" || !strings.HasSuffix(p.Watch.Detail, " > 3") {
		t.Errorf("%+v", p.Watch)
	}
	back, err := d.client().Promotion(t.Context(), "watched", p.Watch.OperationID)
	if err != nil || back.CandidateVersionID != "v1" || back.PreviousVersionID != "v2" || back.Reason != "watch: "+p.Watch.Detail {
		t.Errorf("%+v, %v", back, err)
	}
	if a := d.served(prod); a.Body != "before broken" || a.Header.Get("Svc-Version") != back.VersionID {
		t.Errorf("%d %q of %s", a.Status, a.Body, a.Header.Get("Svc-Version"))
	}
}
