//go:build e2e

package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// readOnlyScript writes also on GET, and answers with the error that it sees. The consumer stores what
// it gets.
const readOnlyScript = `
const writes = {
  "/kv": (env) => env.KV.put("k", "v"),
  "/d1": (env) => env.DB.prepare("INSERT INTO t VALUES (1)").run(),
  "/queue": (env) => env.JOBS.send("of the worker"),
  "/r2": (env) => env.FILES.put("k", "v"),
};
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/rows") return new Response(String((await env.DB.prepare("SELECT count(*) AS n FROM t").first("n"))));
    if (pathname === "/seen") return new Response(String((await env.KV.list({ prefix: "message:" })).keys.length));
    if (pathname === "/mixed") {
      const write = () => env.DB.prepare("INSERT INTO t VALUES (1)").run();
      const results = await Promise.allSettled([write(), env.DB.prepare("SELECT count(*) AS n FROM t").first("n"), write()]);
      return new Response(results.map((r) => r.status).join(" "));
    }
    try {
      await writes[pathname]?.(env);
      return new Response("ok");
    } catch (e) {
      return new Response(e.message);
    }
  },
  async queue(batch, env) {
    for (const m of batch.messages) await env.KV.put("message:" + m.id, "seen");
  },
};`

// TestReadOnly: a read-only project refuses requests with unsafe methods, the writes of its worker and
// its events, also after a start of the server. Administrators write with force.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := worker(t, `{ "name": "shop", "main": "index.js", "compatibility_date": "2026-11-01", "kv_namespaces": [{ "binding": "KV" }],
		"d1_databases": [{ "binding": "DB", "database_name": "main" }], "r2_buckets": [{ "binding": "FILES", "bucket_name": "files" }],
		"queues": { "producers": [{ "binding": "JOBS", "queue": "jobs" }], "consumers": [{ "queue": "jobs", "max_batch_timeout": 0 }] } }`,
		map[string]string{"index.js": readOnlyScript, "migrations/0001_t.sql": "CREATE TABLE t (n);"})
	v := d.deploy(dir, "--version", "v1")
	d.setReadOnly(v, true)
	d.readOnly(v)

	put := []string{"kv", "key", "put", "v1", "admin", "x"}
	if _, errs, code := d.run(dir, put...); code == 0 || !strings.Contains(errs, "--force") {
		t.Errorf("a change without --force: exit %d, %s", code, errs)
	}
	d.ok(dir, append(put, "--force")...)
	forced, err := client.New(d.note.API, client.Tokens{Admin: d.note.AdminToken}, client.Options{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := forced.SendMessage(t.Context(), client.Queue{Project: v.ProjectID, Version: v.ID, Name: "jobs"}, api.NewMessage{Body: json.RawMessage(`"of the administrator"`)}); err != nil {
		t.Fatal(err)
	}
	d.queued(v, func(q api.Queue) bool { return q.Ready == 1 })

	d.kill()
	if !d.start() {
		t.Fatalf("the daemon does not start again:\n%s", d.log.String())
	}
	d.readOnly(v)
	d.queued(v, func(q api.Queue) bool { return q.Ready == 1 && q.Inflight == 0 })

	d.setReadOnly(v, false)
	for _, store := range []string{"/kv", "/d1", "/queue", "/r2"} {
		if got := d.do(http.MethodPost, v.ProdURL+store, "text/plain", ""); got.Body != "ok" {
			t.Errorf("writable again: POST %s: %d %s", store, got.Status, got.Body)
		}
	}
	d.queued(v, func(q api.Queue) bool { return q.Ready+q.Delayed+q.Inflight == 0 })
	if got := d.get(v.ProdURL + "/seen"); got.Body != "2" {
		t.Errorf("the consumer has seen %s messages, want 2", got.Body)
	}
}

func (d *daemon) setReadOnly(v api.Version, on bool) {
	d.t.Helper()
	if _, err := d.client().ChangeProject(d.t.Context(), v.ProjectID, api.ChangeProject{ReadOnly: &on}); err != nil {
		d.t.Fatal(err)
	}
}

// readOnly checks that v, the production, cannot be written, and can be read.
func (d *daemon) readOnly(v api.Version) {
	d.t.Helper()
	for _, url := range []string{v.ProdURL, v.PreviewURL} {
		if got := d.do(http.MethodPost, url+"/kv", "text/plain", "x"); got.Status != http.StatusServiceUnavailable || got.Header.Get("Svc-Error") != "project_read_only" || got.Header.Get("Retry-After") == "" {
			d.t.Errorf("POST %s: %d %v", url, got.Status, got.Header)
		}
		for _, store := range []string{"/kv", "/d1", "/queue", "/r2"} {
			if got := d.served(url + store); !strings.Contains(got.Body, "project_read_only") {
				d.t.Errorf("GET %s%s, which writes: %d %s", url, store, got.Status, got.Body)
			}
		}
		if got := d.get(url + "/mixed"); got.Body != "rejected fulfilled rejected" { // sent together
			d.t.Errorf("a write, a read and a write are %s", got.Body)
		}
		if rows, seen := d.get(url+"/rows").Body, d.get(url+"/seen").Body; rows != "0" || seen != "0" {
			d.t.Errorf("%s: %s rows, %s messages were seen; want none", url, rows, seen)
		}
	}
}
