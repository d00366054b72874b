//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/pkg/client"
)

// oddNames is a worker with a binding of most kinds, none of which has an identifier as its name. Where
// the project file allows it, the name of the binding names the data, too.
const oddNames = `{ "name": "names", "main": "index.js", "compatibility_date": "2026-11-01",
	"kv_namespaces": [{ "binding": "my-kv.1" }], "d1_databases": [{ "binding": "my db" }], "r2_buckets": [{ "binding": "bücket?x#%2F" }],
	"queues": { "producers": [{ "binding": "to:jobs", "queue": "jobs" }] }, "durable_objects": { "bindings": [{ "name": "2things", "class_name": "Thing" }] },
	"migrations": [{ "tag": "v1", "new_sqlite_classes": ["Thing"] }], "services": [{ "binding": "\"self\"", "service": "names", "entrypoint": "Named" }],
	"workflows": [{ "binding": "flow-1", "name": "flow", "class_name": "Flow" }], "send_email": [{ "name": "my~mail" }], "version_metadata": { "binding": "this version" },
	"analytics_engine_datasets": [{ "binding": "data set", "dataset": "points" }], "ratelimits": [{ "name": "at-most", "namespace_id": "1", "simple": { "limit": 9, "period": 10 } }],
	"assets": { "directory": "public", "binding": "static files" }, "vars": { "a/b": "var" } }`

const oddWorker = `import { DurableObject, WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";
export class Thing extends DurableObject { async add() { const n = (await this.ctx.storage.get("n") ?? 0) + 1; await this.ctx.storage.put("n", n); return n; } }
export class Named extends WorkerEntrypoint { hello() { return "hello"; } }
export class Flow extends WorkflowEntrypoint { async run() {} }
export default { async fetch(request, env) {
	const kv = env["my-kv.1"], db = env["my db"], bucket = env["bücket?x#%2F"];
	const n = Number(await kv.get("n") ?? 0) + 1;
	await kv.put("n", String(n));
	await db.prepare("insert into visits (n) values (?)").bind(n).run();
	await bucket.put("n", String(n));
	await env["to:jobs"].send({ n });
	await env["flow-1"].create();
	env["data set"].writeDataPoint({ doubles: [n] });
	return Response.json({
		names: Object.keys(env).sort(), kv: n, seed: await kv.get("seeded"), db: await db.prepare("select count(*) n from visits").first("n"), bucket: await (await bucket.get("n")).text(),
		object: await env["2things"].getByName("a").add(), self: await env['"self"'].hello(), limit: (await env["at-most"].limit({ key: "a" })).success,
		file: await (await env["static files"].fetch("http://x/a.txt")).text(), id: env["this version"].tag === undefined ? "" : env.VERSION_ID, text: env["a/b"],
	});
} };`

// TestBindingNames: bindings with names that are no identifiers work: in the worker, with seeds and
// migrations, by the API and its commands, in a child, and after a restart.
func TestBindingNames(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := worker(t, oddNames, map[string]string{
		"index.js": oddWorker, "public/a.txt": "a file", "seed/my-kv.1.jsonl": `{"key":"seeded","value":"yes"}`, "migrations/0001_init.sql": "create table visits (n int);",
	})
	if out, errs, code := d.run(dir, "check"); code != 0 {
		t.Fatalf("check: %s%s", out, errs)
	}
	one := d.deploy(dir, "--version", "v1")
	const want = `{"names":["\"self\"","2things","PROJECT_ID","VERSION_ID","a/b","at-most","bücket?x#%2F","data set","flow-1","my db","my-kv.1","my~mail","static files","this version","to:jobs"],` +
		`"kv":1,"seed":"yes","db":1,"bucket":"1","object":1,"self":"hello","limit":true,"file":"a file","id":"v1","text":"var"}`
	if a := d.get(one.PreviewURL); a.Status != http.StatusOK || a.Body != want {
		t.Errorf("got  %d %s\nwant %s", a.Status, a.Body, want)
	}
	d.oddData(dir, one.ProjectID)

	two := d.deploy(dir, "--version", "v2", "--parent", "v1")
	d.counts(two.PreviewURL, 2)
	d.kill()
	if !d.start() {
		t.Fatal("the server does not start again")
	}
	d.counts(one.PreviewURL, 2)
	d.counts(two.PreviewURL, 3)
}

// counts checks that a worker finds what the requests before have stored by each of its bindings.
func (d *daemon) counts(url string, n int) {
	d.t.Helper()
	a := d.served(url)
	var got struct {
		KV, DB, Object int
		Bucket, Seed   string
	}
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil || got.KV != n || got.DB != n || got.Object != n || got.Seed != "yes" {
		d.t.Errorf("%s: %d %s, want %d each", url, a.Status, a.Body, n)
	}
}

// oddData reads the data of v1 by the names of its bindings.
func (d *daemon) oddData(dir, project string) {
	d.t.Helper()
	for _, command := range [][]string{
		{"kv", "key", "get", "v1", "n", "--binding", "my-kv.1"},
		{"r2", "object", "get", "v1", "n", "--binding", "bücket?x#%2F"},
		{"d1", "execute", "v1", "--binding", "my db", "--command", "select n from visits"},
	} {
		if out, errs, code := d.run(dir, command...); code != 0 || !strings.Contains(out, "1") {
			d.t.Errorf("%q: exit %d, %q %s", command, code, out, errs)
		}
	}
	c := d.client()
	bucket := client.R2{Project: project, Version: "v1", Binding: "bücket?x#%2F"}
	if list, err := c.Objects(d.t.Context(), bucket, "", "", client.Page{}); err != nil || len(list.Items) != 1 {
		d.t.Errorf("objects: %+v %v", list, err)
	}
	if list, err := c.Bindings(d.t.Context(), project, "v1"); err != nil || len(list) != 12 {
		d.t.Errorf("%d bindings: %+v %v", len(list), list, err)
	}
}

// TestWithoutFetch: the preview of a worker that has crons alone says so, and so does its deploy.
func TestWithoutFetch(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := worker(t, `{ "name": "crons", "main": "index.js", "compatibility_date": "2026-11-01", "triggers": { "crons": ["0 0 1 1 *"] } }`,
		map[string]string{"index.js": "export default { async scheduled() {} }"})
	_, errs, code := d.run(dir, "deploy", "--version", "v1", "--wait")
	if code != 0 || !strings.Contains(errs, "this worker has no fetch handler (it has scheduled): requests to it are answered with an error") {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	v, err := d.client().Version(t.Context(), "crons", "v1")
	if err != nil {
		t.Fatal(err)
	}
	if a := d.get(v.PreviewURL); a.Status != http.StatusInternalServerError || !strings.HasPrefix(a.Body, "Error: This worker has no fetch handler (it has scheduled).\n") {
		t.Errorf("preview: %d %s", a.Status, a.Body)
	}
	if a := d.get(v.ProdURL); a.Status != http.StatusInternalServerError || a.Body != "Internal Server Error" {
		t.Errorf("production: %d %s", a.Status, a.Body)
	}
}

// TestPagesHeaders: the files of a Pages project are served as Pages serves them.
func TestPagesHeaders(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := worker(t, `{ "name": "site", "compatibility_date": "2026-11-01", "pages_build_output_dir": "." }`,
		map[string]string{"index.html": "<h1>index</h1>", "own.json": "{}", "_headers": "/own.json\n  ! Access-Control-Allow-Origin\n  Referrer-Policy: no-referrer\n"})
	v := d.deploy(dir, "--version", "v1")
	plain := &http.Client{Transport: d.transport(), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for path, want := range map[string]string{ // status, origin, policy, type options
		"/":               "200 * strict-origin-when-cross-origin nosniff",
		"/index.html":     "308 * strict-origin-when-cross-origin ",
		"/own.json":       "200  no-referrer nosniff",
		"/a%2fb/../c//d":  "200 * strict-origin-when-cross-origin nosniff",
		"/wrangler.jsonc": "200 * strict-origin-when-cross-origin nosniff", // the page for missing files
	} {
		a, err := fetch(t.Context(), plain, http.MethodGet, v.PreviewURL+path, "")
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%d %s %s %s", a.Status, a.Header.Get("Access-Control-Allow-Origin"), a.Header.Get("Referrer-Policy"), a.Header.Get("X-Content-Type-Options"))
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
