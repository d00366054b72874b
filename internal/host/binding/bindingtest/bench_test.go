package bindingtest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/all"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
)

// benchWorker does n operations one after another in one request.
const benchWorker = `
const VALUE = "v".repeat(1024), LARGE = "v".repeat(256 << 10);
let ctr = 0;
const key = () => "key-" + (ctr++ % 100);
export default { async fetch(req, env) {
  const url = new URL(req.url);
  const n = Number(url.searchParams.get("n") ?? 1);
  const db = env.DB;
  let ok = 0;
  const one = {
    "/kv/get": async () => { if ((await env.KV.get(key()))?.length === 1024) ok++; },
    "/kv/put": async () => { await env.KV.put("w-" + key(), VALUE); ok++; },
    "/kv/list": async () => { if ((await env.KV.list({ prefix: "key-", limit: 100 })).keys.length === 100) ok++; },
    "/db/select": async () => {
      const r = await db.prepare("SELECT id, name, qty, price, note FROM items WHERE id = ?").bind(1 + (ctr++ * 7919) % 1000).first();
      if (r.name) ok++;
    },
    "/db/insert": async () => {
      const r = await db.prepare("INSERT INTO log (at, msg) VALUES (?, ?)").bind(ctr++, "a log line of some forty characters ....").run();
      if (r.success) ok++;
    },
    "/db/batch10": async () => {
      const st = db.prepare("INSERT INTO log (at, msg) VALUES (?, ?)");
      const r = await db.batch(Array.from({ length: 10 }, () => st.bind(ctr++, "a log line of some forty characters ....")));
      if (r.length === 10 && r[9].success) ok++;
    },
    "/db/rows": async () => {
      const r = await db.prepare("SELECT id, name, qty, price, note FROM items ORDER BY id LIMIT 1000").all();
      if (r.results.length === 1000) ok++;
    },
    "/r2/get": async () => { if ((await (await env.R2.get(key())).text()).length === 1024) ok++; },
    "/r2/put": async () => { if ((await env.R2.put("w-" + key(), VALUE)).size === 1024) ok++; },
    "/r2/list": async () => { if ((await env.R2.list({ prefix: "key-", limit: 100 })).objects.length === 100) ok++; },
    "/r2/get256": async () => { if ((await (await env.R2.get("large")).text()).length === 256 << 10) ok++; },
    "/r2/put256": async () => { if ((await env.R2.put("large", LARGE)).size === 256 << 10) ok++; },
    "/seed": async () => {
      for (let i = 0; i < 100; i++) await env.R2?.put("key-" + i, VALUE);
      await env.R2?.put("large", LARGE);
      for (let i = 0; i < 100; i++) await env.KV.put("key-" + i, VALUE);
      await db.batch([
        db.prepare("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL, qty INTEGER NOT NULL, price REAL NOT NULL, note TEXT)"),
        db.prepare("CREATE TABLE log (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, msg TEXT NOT NULL)"),
      ]);
      const st = db.prepare("INSERT INTO items (id, name, qty, price, note) VALUES (?, ?, ?, ?, ?)");
      for (let i = 0; i < 10; i++)
        await db.batch(Array.from({ length: 100 }, (_, j) => {
          const id = i * 100 + j + 1;
          return st.bind(id, "item number " + id, id % 17, id * 1.25, "a note about item " + id);
        }));
      ok++;
    },
  }[url.pathname];
  for (let i = 0; i < n; i++) await one();
  return Response.json({ ok, n });
}};`

// BenchmarkWorker prints the time of one operation as a worker sees it, with
// the request to the worker taken out: (t(n)-t(1))/(n-1).
func BenchmarkWorker(b *testing.B) {
	cases := []string{"/kv/get", "/kv/put", "/kv/list", "/db/select", "/db/insert", "/db/batch10", "/db/rows"}
	objects := []string{"/r2/get", "/r2/put", "/r2/list", "/r2/get256", "/r2/put256"} // workerd has none of its own
	targets := map[string]*bindingtest.Worker{}
	set := bindingtest.OpenSet(b, bindingtest.OpenVolumes(b, b.TempDir()), all.Kinds(),
		bundle.Binding{Name: "KV", Kind: "kv", Resource: "ns"}, bundle.Binding{Name: "DB", Kind: "database", Resource: "db"},
		bundle.Binding{Name: "R2", Kind: "object_store", Resource: "bucket"})
	targets["ours"] = bindingtest.Start(b, set, benchWorker)
	if os.Getenv("BENCH_ORACLE") != "" {
		targets["native"] = bindingtest.StartOracle(b, bindingtest.Oracle{KV: []string{"KV"}, Databases: []string{"DB"}}, benchWorker)
	}
	for name, w := range targets {
		cases := cases
		w.Post(b, "/seed", "")
		if name == "ours" {
			cases = slices.Concat(cases, objects)
		}
		for _, c := range cases {
			b.Run(c[1:]+"/"+name, func(b *testing.B) {
				n := b.N + 1
				base := took(b, w, c, 1)
				b.ResetTimer()
				full := took(b, w, c, n)
				b.ReportMetric(float64((full-base).Microseconds())/float64(n-1), "µs/inside")
			})
		}
	}
}

func took(b *testing.B, w *bindingtest.Worker, path string, n int) time.Duration {
	b.Helper()
	started := time.Now()
	text := w.Post(b, fmt.Sprintf("%s?n=%d", path, n), "")
	d := time.Since(started)
	var r struct {
		OK int `json:"ok"`
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil || r.OK != n {
		b.Fatalf("%s: %s (%v)", path, text, err)
	}
	return d
}
