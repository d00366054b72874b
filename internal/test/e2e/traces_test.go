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
// the gateway's, the worker's, and one for each call of a binding.
func TestTraces(t *testing.T) {
	t.Parallel()
	collector := otlptest.Start(t)
	d := started(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_TRACES_SAMPLER_ARG=0")
	v := d.deploy(worker(t, `{ "name": "traced", "main": "index.js", "compatibility_date": "2026-11-01",
		"kv_namespaces": [{ "binding": "KV" }], "d1_databases": [{ "binding": "DB", "database_name": "orders", "database_id": "x" }],
		"queues": { "producers": [{ "binding": "QUEUE", "queue": "jobs" }] } }`,
		map[string]string{"index.js": `export default { async fetch(request, env, ctx) {
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
	var got []otlptest.Span
	svctest.Eventually(t, "the last span", func() bool {
		got = slices.DeleteFunc(collector.Spans(), func(s otlptest.Span) bool { return s.Trace != trace })
		return slices.ContainsFunc(got, func(s otlptest.Span) bool { return s.Name == "queue_producer send" }) &&
			slices.ContainsFunc(got, func(s otlptest.Span) bool { return s.Parent == parent })
	})
	find := func(name string) otlptest.Span {
		i := slices.IndexFunc(got, func(s otlptest.Span) bool { return s.Name == name })
		if i < 0 {
			t.Fatalf("no span %q in %+v", name, got)
		}
		return got[i]
	}
	gateway, worker := find("GET"), find("fetch")
	if gateway.Parent != parent || worker.Parent != gateway.ID || worker.Attrs["svc.version"] != "v1" || len(got) != 5 {
		t.Errorf("%+v", got)
	}
	for name, resource := range map[string]string{"kv put": "kv/KV", "database query": "database/orders", "queue_producer send": "queue_producer/jobs"} {
		if s := find(name); s.Parent != worker.ID || s.Attrs["svc.resource"] != resource {
			t.Errorf("%+v below %+v", s, worker)
		}
	}
}
