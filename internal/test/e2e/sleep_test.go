//go:build e2e

package e2e

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// sleepScript writes down the messages that arrive, and sends one that is due later.
const sleepScript = `
export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname === "/send") await env.JOBS.send("work", { delaySeconds: 6 });
    return new Response(String((await env.KV.list()).keys.length));
  },
  async queue(batch, env) {
    for (const m of batch.messages) await env.KV.put(m.id, "done");
  },
};`

// TestSleep: a version that nothing asks for has no processes, also over a restart of the
// server. It runs for a message that is due, for held requests, for the API and for a fork.
// Production does not sleep.
func TestSleep(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_SLEEP_IDLE=1")
	dir := worker(t, `{ "name": "jobs", "main": "index.js", "compatibility_date": "2026-11-01", "kv_namespaces": [{ "binding": "KV" }],
		"queues": { "producers": [{ "binding": "JOBS", "queue": "jobs" }], "consumers": [{ "queue": "jobs", "max_batch_timeout": 0 }] } }`,
		map[string]string{"index.js": sleepScript})
	v1 := d.deploy(dir, "--version", "v1")
	v2 := d.deploy(dir, "--version", "v2")
	asleep := func() { d.sleeps(v2) }
	starts := func() int { return strings.Count(d.log.String(), "version started from sleep") }
	messages, before := 0, 0
	for waits := false; !waits; messages++ { // a slow machine delivers a message before v2 sleeps
		d.served(v2.PreviewURL + "/send")
		asleep()
		before = starts()
		waits = d.runtime(v2).WakeAt != nil
	}
	d.kill()
	if !d.start() {
		t.Fatalf("the daemon does not start again:\n%s", d.log.String())
	}
	svctest.Eventually(t, "v2 to start for its message", func() bool { // on a busy machine before the kill
		return starts() > before || d.runtime(v2).State == api.RuntimeStateServing
	})
	d.queued(v2, func(q api.Queue) bool { return q.Ready+q.Delayed+q.Inflight == 0 })
	asleep()
	delivered := strconv.Itoa(messages)
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			got, err := patiently(func() (answer, error) { return d.try(t.Context(), "GET", v2.PreviewURL, "", "") })
			if err != nil || got.Status != 200 || got.Body != delivered {
				t.Errorf("a request to a version that sleeps: %d %s, %v", got.Status, got.Body, err)
			}
		})
	}
	all.Wait()
	asleep()
	d.ok(dir, "kv", "key", "list", "v2")
	asleep()
	if got := d.served(d.deploy(dir, "--version", "v3", "--parent", "v2").PreviewURL); got.Body != delivered {
		t.Errorf("a child of a version that sleeps has %s", got.Body)
	}
	if now := d.runtime(v1); now.State != api.RuntimeStateServing {
		t.Errorf("production is %s", now.State)
	}
}
