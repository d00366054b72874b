//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// longBatch keeps the messages of a version with the worker until a key says so, and writes down what
// it acknowledges.
const longBatch = `
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/send") await env.JOBS.sendBatch(Array.from({ length: 20 }, (_, n) => ({ body: n })));
    if (pathname === "/open") await env.KV.put("open:" + searchParams.get("version"), "yes");
    return new Response(String((await env.KV.list({ prefix: searchParams.get("prefix") ?? "" })).keys.length));
  },
  async queue(batch, env) {
    while (!(await env.KV.get("open:" + env.VERSION_ID))) await scheduler.wait(20);
    for (const m of batch.messages) await env.KV.put(env.VERSION_ID + ":" + m.body, m.id);
  },
};`

// TestReleaseLongBatch releases while a batch of messages is with the worker. One that outlasts the drain undoes
// the release and continues. One that ends within it is not delivered again. One that is interrupted is
// delivered to the new version, and the old one has acknowledged none of it.
func TestReleaseLongBatch(t *testing.T) {
	t.Parallel()
	const drain = 3 * time.Second
	d := started(t, "SVC_RELEASE_HOLD=20s", "SVC_RELEASE_DRAIN="+drain.String())
	dir := worker(t, `{ "name": "jobs", "main": "index.js", "compatibility_date": "2026-11-01", "kv_namespaces": [{ "binding": "KV" }],
		"queues": { "producers": [{ "binding": "JOBS", "queue": "jobs" }],
			"consumers": [{ "queue": "jobs", "max_batch_size": 20, "max_batch_timeout": 0, "max_retries": 0, "max_concurrency": 1 }] } }`,
		map[string]string{"index.js": longBatch})
	v1 := d.deploy(dir, "--version", "v1")
	d.deploy(dir, "--version", "check", "--parent", "v1")
	inWorker := func(q api.Queue) bool { return q.Inflight == 20 && q.Ready+q.Delayed == 0 }
	empty := func(q api.Queue) bool { return q.Inflight+q.Ready+q.Delayed == 0 }
	acknowledged := func(want map[string]int) {
		t.Helper()
		for version, n := range want {
			if a := d.get(v1.ProdURL + "/?prefix=" + version + ":"); a.Body != fmt.Sprint(n) {
				t.Errorf("%s acknowledged %s messages, want %d", version, a.Body, n)
			}
		}
	}
	d.get(v1.ProdURL + "/send")
	d.queued(v1, inWorker)
	p := d.released("jobs", "check", api.ReleaseVersion{VersionID: "busy"})
	if !strings.HasPrefix(p.Error, "pause: release_busy: events of production did not end within 3s: ") || !strings.Contains(p.Error, "jobs") {
		t.Errorf("with a batch under way: %s %s", p.Status, p.Error)
	}
	d.queued(v1, func(q api.Queue) bool { return inWorker(q) && q.Consumer.Acknowledged == 0 })
	acknowledged(map[string]int{"v1": 0})

	begun, err := d.client().Release(t.Context(), "jobs", "check", api.ReleaseVersion{VersionID: "v2"})
	if err != nil {
		t.Fatal(err)
	}
	d.get(v1.PreviewURL + "/open?version=v1")
	if p, err = d.client().WaitPromotion(t.Context(), "jobs", begun.OperationID); err != nil || p.Status != api.PromotionStatusDone {
		t.Fatalf("with a batch that ends: %s %s, %v", p.Status, p.Error, err)
	}
	v2, err := d.client().Version(t.Context(), "jobs", "v2")
	if err != nil {
		t.Fatal(err)
	}
	d.queued(v2, empty)
	acknowledged(map[string]int{"v1": 20, "v2": 0})

	d.get(v1.ProdURL + "/send")
	d.queued(v2, inWorker)
	d.get(v1.ProdURL + "/open?version=v3")
	if p := d.released("jobs", "check", api.ReleaseVersion{VersionID: "v3", InterruptEvents: true}); p.Status != api.PromotionStatusDone {
		t.Fatalf("with a batch that is interrupted: %s %s", p.Status, p.Error)
	}
	v3, err := d.client().Version(t.Context(), "jobs", "v3")
	if err != nil {
		t.Fatal(err)
	}
	d.queued(v3, func(q api.Queue) bool { return empty(q) && q.Consumer.Acknowledged == 20 })
	acknowledged(map[string]int{"v1": 20, "v2": 0, "v3": 20})
}

// sleepy is a workflow that sleeps between two steps until a time that its parameters name. Its step
// tells which version ran it.
const sleepy = `import { WorkflowEntrypoint } from "cloudflare:workers";
export class Sleepy extends WorkflowEntrypoint {
  async run(event, step) {
    const before = await step.do("before", async () => this.env.VERSION_ID);
    await step.sleepUntil("sleep", new Date(event.payload.until));
    return [before, await step.do("after", async () => this.env.VERSION_ID)].join(" then ");
  }
}
export default { fetch: (request, env) => new Response(env.VERSION_ID) };`

// TestReleaseSleepingInstances: instances of a workflow that sleep move with the results of their steps. One
// wakes in the new version at its time, one sleeps on for a month.
func TestReleaseSleepingInstances(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := worker(t, `{ "name": "approval", "main": "index.js", "compatibility_date": "2026-11-01", "workflows": [{ "binding": "W", "name": "expenses", "class_name": "Sleepy" }] }`,
		map[string]string{"index.js": sleepy})
	d.deploy(dir, "--version", "v1")
	d.deploy(dir, "--version", "check", "--parent", "v1")
	after := func(in time.Duration) time.Time { return time.Now().Add(in).Truncate(time.Millisecond) }
	wakes := map[string]time.Time{"soon": after(20 * time.Second), "late": after(30 * 24 * time.Hour)}
	for id, wake := range wakes {
		d.ok(dir, "workflows", "trigger", "approval/v1", "expenses", "--id", id, "--params", fmt.Sprintf(`{"until":%d}`, wake.UnixMilli()))
		d.until("v1", id, "waiting")
	}
	p := d.released("approval", "check", api.ReleaseVersion{VersionID: "v2"})
	if p.Status != api.PromotionStatusDone || p.Moved == nil || p.Moved.Instances != 2 {
		t.Fatalf("%s %s %+v", p.Status, p.Error, p.Moved)
	}
	late := d.expense("v2", "late")
	if late.Status != "waiting" || late.NextRunAt == nil || late.NextRunAt.Sub(wakes["late"]).Abs() > time.Second || string(late.Steps[0].Output) != `"v1"` {
		t.Errorf("the instance that sleeps for a month: %+v", late)
	}
	d.until("v2", "soon", "complete")
	soon := d.expense("v2", "soon")
	if string(soon.Output) != `"v1 then v2"` || soon.EndedAt == nil || soon.EndedAt.Before(wakes["soon"]) || soon.Steps[0].Attempts != 1 {
		t.Errorf("the instance that wakes: %+v", soon)
	}
	if ended := soon.EndedAt.Sub(wakes["soon"]); ended > svctest.Patience/2 {
		t.Errorf("it ended %s after its time", ended)
	}
}
