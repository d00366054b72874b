//go:build e2e

package e2e

import (
	"net/http"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/lib/otlp/otlptest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestTraces: a request that a client traces is one trace at the collector: the client's span,
// the gateway's, the worker's, one for each call of a binding, and those of the workers and
// objects that it calls.
func TestTraces(t *testing.T) {
	t.Parallel()
	collector := otlptest.Start(t)
	d := started(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_TRACES_SAMPLER_ARG=0")
	d.deploy(worker(t, `{ "name": "other", "main": "index.js", "compatibility_date": "2026-11-01", "kv_namespaces": [{ "binding": "KV" }] }`,
		map[string]string{"index.js": `import { WorkerEntrypoint } from "cloudflare:workers";
export default class extends WorkerEntrypoint {
  async shout(text) { await this.env.KV.get("a"); return text.toUpperCase(); }
  fetch() { return new Response("other"); }
}`}), "--version", "v9")
	v := d.deploy(worker(t, `{ "name": "traced", "main": "index.js", "compatibility_date": "2026-11-01",
		"services": [{ "binding": "OTHER", "service": "other" }], "durable_objects": { "bindings": [{ "name": "OBJECTS", "class_name": "Counter" }] },
		"migrations": [{ "tag": "v1", "new_sqlite_classes": ["Counter"] }], "kv_namespaces": [{ "binding": "KV" }], "d1_databases": [{ "binding": "DB", "database_name": "orders", "database_id": "x" }],
		"queues": { "producers": [{ "binding": "QUEUE", "queue": "jobs" }] } }`,
		map[string]string{"index.js": `import { DurableObject } from "cloudflare:workers";
export class Counter extends DurableObject {
  fetch(request) { return new Response("counted " + (request.headers.get("traceparent") !== null)); }
  count() { return 1; }
}
export default { async fetch(request, env, ctx) {
  const object = env.OBJECTS.getByName("a");
  if (await (await object.fetch(request)).text() !== "counted true" || await object.count() !== 1) return new Response("object");
  if (await env.OTHER.shout("hi") !== "HI" || await (await env.OTHER.fetch("http://x/")).text() !== "other") return new Response("other");
  await env.KV.put("a", "b");
  await env.DB.prepare("SELECT 1").run();
  ctx.waitUntil(scheduler.wait(50).then(() => env.QUEUE.send("later")));
  return new Response("done");
} }`}), "--version", "v1")
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for _, flags := range []string{"00", "01"} {
		if a, err := fetch(t.Context(), d.http(), http.MethodGet, v.PreviewURL, "", "Traceparent", "00-"+trace+"-"+parent+"-"+flags); err != nil || a.Body != "done" {
			t.Fatal(a, err)
		}
	}
	want := []string{
		"GET traced: client", "fetch traced: GET traced", "durable_object fetch traced: fetch traced", "fetch traced: GET traced", // the object's, of the same request
		"service shout traced: fetch traced", "shout other: service shout traced", "kv get other: shout other",
		"service fetch traced: fetch traced", "fetch other: service fetch traced",
		"kv put traced: fetch traced", "database query traced: fetch traced", "queue_producer send traced: fetch traced",
	}
	slices.Sort(want)
	svctest.Eventually(t, "the spans", func() bool {
		got := slices.DeleteFunc(collector.Spans(), func(s otlptest.Span) bool { return s.Trace != trace })
		if len(got) < len(want) {
			return false
		}
		if tree := below(got, map[string]string{parent: "client"}); !slices.Equal(tree, want) {
			t.Errorf("%q, want %q", tree, want)
		}
		return true
	})
	for _, s := range collector.Spans() {
		resource := map[string]string{
			"kv put": "kv/KV", "database query": "database/orders", "queue_producer send": "queue_producer/jobs", "service shout": "service/other",
			"durable_object fetch": "durable_object/Counter",
		}[s.Name]
		if resource != "" && s.Attrs["svc.resource"] != resource {
			t.Errorf("%+v", s)
		}
	}
}

// below tells the spans with what they are a part of, sorted. names has the ids of others.
func below(spans []otlptest.Span, names map[string]string) (tree []string) {
	for _, s := range spans {
		names[s.ID] = s.Name + " " + s.Attrs["svc.project"]
	}
	for _, s := range spans {
		tree = append(tree, names[s.ID]+": "+names[s.Parent])
	}
	slices.Sort(tree)
	return tree
}
