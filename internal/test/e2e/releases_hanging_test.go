//go:build e2e

package e2e

import (
	"net/http"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// hanging is a ledger with a request that ends when a line is there.
const hanging = `export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const add = (text) => env.DB.prepare("INSERT INTO lines (text) VALUES (?)").bind(text).run();
    const has = async (text) => (await env.DB.prepare("SELECT 1 FROM lines WHERE text = ?").bind(text).first()) !== null;
    if (pathname === "/all") return Response.json(await env.DB.prepare("SELECT text FROM lines").raw());
    if (pathname === "/has") return Response.json(await has(searchParams.get("text")));
    if (pathname === "/add") await add(await request.text());
    if (pathname === "/socket") return socket(env);
    if (pathname === "/hang") {
      await add("hangs " + env.VERSION_ID);
      while (!(await has("ends " + env.VERSION_ID))) await scheduler.wait(10);
    }
    return new Response(env.VERSION_ID);
  },
};
function socket(env) {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  server.addEventListener("message", () => server.send(env.VERSION_ID));
  return new Response(null, { status: 101, webSocket: client });
}`

// deployHanging deploys v1, which is production, and the candidate check.
func (d *daemon) deployHanging() api.Version {
	d.t.Helper()
	dir := worker(d.t, `{ "name": "ledger", "main": "index.js", "compatibility_date": "2026-11-01", "d1_databases": [{ "binding": "DB", "database_name": "ledger" }] }`,
		map[string]string{"index.js": hanging, "migrations/0001_lines.sql": "CREATE TABLE lines (text TEXT PRIMARY KEY) STRICT;"})
	v1 := d.deploy(dir, "--version", "v1")
	d.deploy(dir, "--version", "check", "--parent", "v1")
	return v1
}

// hang begins a request of production, v, that ends when end is called.
func (d *daemon) hang(v api.Version) (end func()) {
	d.t.Helper()
	done := make(chan answer, 1)
	go func() {
		a, _ := d.try(d.t.Context(), http.MethodGet, v.ProdURL+"/hang", "", "")
		done <- a
	}()
	svctest.Eventually(d.t, "the request to hang", func() bool { return d.get(v.PreviewURL+"/has?text=hangs+"+v.ID).Body == "true" })
	return func() {
		d.do(http.MethodPost, v.PreviewURL+"/add", "", "ends "+v.ID) // its own host name does not wait
		if a := svctest.Wait(d.t, "the request that hangs", done); a.Body != v.ID {
			d.t.Errorf("the request that hangs answers %d %s", a.Status, a.Body)
		}
	}
}
