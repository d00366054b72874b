//go:build e2e

package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// Several workers in one session: each has an address, saves and data of its own, and a
// save makes a version of the worker alone whose files changed. A debugger attaches to one.
func TestDevWorkers(t *testing.T) {
	t.Parallel()
	worker := func(text string) string {
		return "export default { fetch(req) {\n  return new Response(\"" + text + " \" + req.url);\n} }"
	}
	d := newDeveloper(t, map[string]string{
		"wrangler.jsonc":     `{ "name": "web", "main": "index.ts", "compatibility_date": "2026-11-01" }`,
		"index.ts":           worker("web"),
		"api/wrangler.jsonc": `{ "name": "shop", "main": "index.js", "compatibility_date": "2026-11-01" }`,
		"api/index.js":       worker("one"),
	})
	d.start("--inspect=0", "-c", "wrangler.jsonc", "-c", "api/wrangler.jsonc")
	api := strings.Replace(d.address, "localhost", "shop.localhost", 1)
	host := "Host:" + strings.TrimPrefix(api, "http://")
	answers := func(want string) {
		t.Helper()
		if status, body := d.get("/", host); status != http.StatusOK || body != want {
			t.Errorf("%d %q, want %q", status, body, want)
		}
	}
	d.await(`shop dev   ` + api + `   data: new`)
	inspector := d.await(`debuggers attach at (localhost:\d+)`)[1]
	d.await(`shop  save 1  first build`)
	d.await(`web  save 1  first build`)
	d.expect("/", "web "+d.address+"/")
	answers("one " + api + "/")
	d.write("api/index.js", worker("two"))
	d.await(`shop  save 2  index.js`)
	answers("two " + api + "/")
	d.write("api/index.js", "export default {")
	d.await(`shop  the worker does not build`)
	d.expect("/", "web "+d.address+"/")
	d.inspects(inspector, func() {
		d.write("index.ts", worker("last"))
		d.await(`web  save 2  index.ts`)
	}, "web "+d.address+"/", "last "+d.address+"/")
	d.expect("/", "last "+d.address+"/")
	answers("two " + api + "/")
	svctest.Eventually(t, "the lists to have the saves", func() bool { return len(d.saves("web")) >= 2 && len(d.saves("shop")) >= 2 })
	if web, api := d.saves("web"), d.saves("shop"); len(web) != 2 || len(api) != 2 {
		t.Errorf("saves %v and %v", web, api)
	}
	if out, code := d.run("dev", "--inspect", "--server", "http://localhost:1"); code != 2 || !strings.Contains(out, "--inspect needs the server") {
		t.Errorf("%d %s", code, out)
	}
	if out, code := d.run("dev", "-c", "wrangler.jsonc", "-c", "api/wrangler.jsonc", "--project", "x"); code != 2 {
		t.Errorf("%d %s", code, out)
	}
}
