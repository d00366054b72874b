//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestSite deploys the example of static files: the gateway serves them by the rules of
// the project, the worker gets the rest, and reads files through its binding. Then the
// same for assets alone and for a Pages project.
func TestSite(t *testing.T) {
	t.Parallel()
	d := started(t)
	v := d.deploy("../../../examples/site", "--version", "v1")
	noRedirects := &http.Client{Transport: d.transport(), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, test := range []struct {
		path, headers string // "Name: value" of the request
		status        int
		want          string // in the body, or the Location
	}{
		{"/", "", 200, "<h1>A site</h1>"},
		{"/docs/", "", 200, "<h1>Documentation</h1>"},
		{"/docs", "", 307, "/docs/"},
		{"/about.html?a=b", "", 307, "/about?a=b"},
		{"/manual", "", 301, "/docs/"},
		{"/blog/2026/one?a=b", "", 302, "https://blog.example.com/2026/one?a=b"},
		{"/app.js", "", 200, "/api/time"},
		{"/drafts/next", "", 404, "There is no such page"},
		{"/api/nothing", "", 404, "no such call"},
		{"/_headers", "", 404, "There is no such page"},
		{"/api/time", "", 200, `"now"`},
		{"/members/secret.txt", "", 401, "members only"},
		{"/members/secret.txt", "Authorization: Bearer member", 200, "the secret of the members"},
	} {
		var headers []string
		if name, value, ok := strings.Cut(test.headers, ": "); ok {
			headers = []string{name, value}
		}
		a, err := fetch(t.Context(), noRedirects, http.MethodGet, v.PreviewURL+test.path, "", headers...)
		if err != nil || a.Status != test.status || !strings.Contains(a.Body+a.Header.Get("Location"), test.want) {
			t.Errorf("%s: %d %q %v %v", test.path, a.Status, a.Body, a.Header, err)
		}
	}
	if a := d.get(v.PreviewURL + "/style.css"); a.Header.Get("Cache-Control") != "public, max-age=3600" ||
		a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Svc-Version") != "v1" {
		t.Errorf("_headers: %v", a.Header)
	}
	d.assetsAlone(t)
	d.pages(t)
	d.onlyChanges(t)
}

// onlyChanges deploys a site again: it uploads what changed, also after the versions that
// had the rest were archived, destroyed and woken.
func (d *daemon) onlyChanges(t *testing.T) {
	t.Helper()
	files := map[string]string{"dist/index.html": "one", "dist/same.txt": "same", "dist/copy.txt": "same"}
	project := `{ "name": "changes", "compatibility_date": "2026-11-01", "assets": { "directory": "dist" } }`
	for i, test := range []struct{ text, uploads string }{
		{"one", "uploading 2 of 3 static files, 7 B"}, {"one", ""}, {"two", "uploading 1 of 3 static files, 3 B"},
	} {
		files["dist/index.html"] = test.text
		_, notes, code := d.run(worker(t, project, files), "deploy", "--wait", "--version", fmt.Sprintf("v%d", i+1))
		if code != 0 || !strings.Contains(notes, test.uploads) || test.uploads == "" && strings.Contains(notes, "static files") {
			t.Fatalf("deploy %d: exit %d, %s", i+1, code, notes)
		}
	}
	for _, args := range [][]string{
		{"versions", "archive", "changes/v2"}, {"versions", "delete", "changes/v3", "--yes"}, {"versions", "wake", "changes/v2"},
	} {
		if _, notes, code := d.run("", args...); code != 0 {
			t.Fatalf("%v: exit %d, %s", args, code, notes)
		}
	}
	v, err := d.client().Version(t.Context(), "changes", "v2")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/": "one", "/same.txt": "same"} {
		if a := d.get(v.PreviewURL + path); a.Body != want {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}

// assetsAlone deploys a directory without a project file.
func (d *daemon) assetsAlone(t *testing.T) {
	t.Helper()
	dir := worker(t, `{ "name": "plain", "compatibility_date": "2026-11-01", "assets": { "directory": "dist", "not_found_handling": "single-page-application" } }`,
		map[string]string{"dist/index.html": "<h1>plain</h1>"})
	v := d.deploy(dir, "--version", "v1")
	if a := d.get(v.PreviewURL + "/some/page"); a.Status != http.StatusOK || a.Body != "<h1>plain</h1>" {
		t.Errorf("a page of an application: %d %s", a.Status, a.Body)
	}
}

// pages deploys a Pages project with a worker.
func (d *daemon) pages(t *testing.T) {
	t.Helper()
	dir := worker(t, `{ "name": "pages", "compatibility_date": "2026-11-01", "pages_build_output_dir": "dist" }`, map[string]string{
		"dist/index.html":   "<h1>pages</h1>",
		"dist/_routes.json": `{ "version": 1, "include": ["/*"], "exclude": ["/static/*"] }`,
		"dist/static/a.txt": "a",
		"dist/_worker.js": `export default { async fetch(request, env) {
			const answer = await env.ASSETS.fetch(request);
			return new Response("worker: " + await answer.text());
		} }`,
	})
	v := d.deploy(dir, "--version", "v1")
	for path, want := range map[string]string{"/": "worker: <h1>pages</h1>", "/static/a.txt": "a"} {
		if a := d.get(v.PreviewURL + path); a.Body != want {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}
