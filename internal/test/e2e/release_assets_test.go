//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
)

// TestReleaseKeepsAssets: a page that was loaded before a release finds its chunks for as many
// releases as the project says, also after a loss of the cache; other paths, and a promote, do not.
func TestReleaseKeepsAssets(t *testing.T) {
	t.Parallel()
	d := started(t)
	chunk := func(n int) string { return fmt.Sprintf("/assets/app-%df9a1c2b.js", n) }
	site := func(n int) string {
		return worker(t, `{ "name": "skew", "compatibility_date": "2026-11-01", "assets": { "directory": "dist" }, "svcctl": { "assets": { "keep": 1 } } }`,
			map[string]string{"dist/index.html": fmt.Sprint("page ", n), "dist" + chunk(n): fmt.Sprint("chunk ", n), fmt.Sprintf("dist/plain-%d.js", n): "plain"})
	}
	prod := d.deploy(site(1), "--version", "v1").ProdURL
	d.ok("", "promote", "skew/v1", "--leave-writes")
	check := func(when string, statuses map[string]int) {
		t.Helper()
		for path, want := range statuses {
			a := d.served(prod + path)
			if a.Status != want {
				t.Errorf("%s: %s is %d, want %d", when, path, a.Status, want)
			}
			if kind := a.Header.Get("Content-Type"); want == http.StatusOK && strings.HasSuffix(path, ".js") && kind != "text/javascript; charset=utf-8" {
				t.Errorf("%s: %s has the type %q", when, path, kind)
			}
		}
	}
	release := func(n int) {
		t.Helper()
		d.deploy(site(n), "--version", fmt.Sprintf("v%d-check", n), "--parent", fmt.Sprintf("v%d", n-1))
		d.release("skew", fmt.Sprintf("v%d-check", n), api.ReleaseVersion{VersionID: fmt.Sprintf("v%d", n)})
	}
	release(2)
	one := map[string]int{"/": 200, chunk(1): 200, chunk(2): 200, chunk(3): 404, "/plain-1.js": 404, "/plain-2.js": 200}
	check("after one release", one)
	if a := d.get(prod + chunk(1)); a.Body != "chunk 1" || a.Header.Get("Svc-Version") != "v2" {
		t.Errorf("%q of %v", a.Body, a.Header)
	}
	d.kill()
	d.noProcessesLeft()
	if err := os.RemoveAll(filepath.Join(d.dataDir(), "cache")); err != nil {
		t.Fatal(err)
	}
	if !d.start() {
		t.Fatal(d.log.String())
	}
	check("after a restart without the cache", one)
	release(3)
	check("after two releases", map[string]int{chunk(1): 404, chunk(2): 200, chunk(3): 200})
	d.deploy(site(4), "--version", "v4", "--parent", "v3")
	d.ok("", "promote", "skew/v4", "--leave-writes")
	check("after a promote", map[string]int{chunk(1): 404, chunk(2): 404, chunk(3): 404, chunk(4): 200})
}

// release releases a candidate and waits for it.
func (d *daemon) release(project, candidate string, r api.ReleaseVersion) api.Promotion {
	d.t.Helper()
	c := d.client()
	begun, err := c.Release(d.t.Context(), project, candidate, r)
	if err != nil {
		d.t.Fatal(err)
	}
	p, err := c.WaitPromotion(d.t.Context(), project, begun.OperationID)
	if err != nil {
		d.t.Fatal(err)
	}
	return p
}
