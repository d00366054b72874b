//go:build e2e

package e2e

import (
	"fmt"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// queueScript keeps the messages of v1 with the worker until a key says so, and writes
// down those that it acknowledges.
const queueScript = `
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    const own = env.VERSION.id + ":";
    if (pathname === "/open") await env.KV.put("open", "yes");
    if (pathname === "/send") await env.JOBS.sendBatch(Array.from({ length: 20 }, (_, n) => ({ body: n })));
    return new Response(String((await env.KV.list({ prefix: own })).keys.length));
  },
  async queue(batch, env) {
    while (env.VERSION.id === "v1" && !(await env.KV.get("open"))) await scheduler.wait(20);
    for (const m of batch.messages) await env.KV.put(env.VERSION.id + ":" + m.body, m.id);
  },
};`

// TestQueues: messages that are with the worker are in a child as well, and outlast the
// death of the worker's processes and of the daemon.
// spec: [C2.12] [C14.11]
func TestQueues(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := worker(t, `{ "name": "jobs", "main": "index.js", "compatibility_date": "2026-11-01", "kv_namespaces": [{ "binding": "KV" }],
		"version_metadata": { "binding": "VERSION" },
		"queues": { "producers": [{ "binding": "JOBS", "queue": "jobs" }],
			"consumers": [{ "queue": "jobs", "max_batch_size": 20, "max_batch_timeout": 0, "max_retries": 0, "max_concurrency": 1 }] } }`,
		map[string]string{"index.js": queueScript})
	v1 := d.deploy(dir, "--version", "v1")
	d.get(v1.PreviewURL + "/send")
	d.queued(v1, func(q api.Queue) bool { return q.Inflight == 20 && q.Ready == 0 })

	v2 := d.deploy(dir, "--version", "v2", "--parent", "v1")
	d.acknowledges(v2)
	d.queued(v1, func(q api.Queue) bool { return q.Inflight == 20 && q.Ready == 0 })
	d.archivesWithMessages(v2)

	d.killRuntime(v1)
	d.queued(v1, func(q api.Queue) bool { return q.Inflight == 20 && q.Consumer.Acknowledged == 0 })
	d.kill()
	if !d.start() {
		t.Fatalf("the daemon does not start again:\n%s", d.log.String())
	}
	d.queued(v1, func(q api.Queue) bool { return q.Inflight == 20 })
	if got := d.served(v1.PreviewURL); got.Body != "0" {
		t.Errorf("v1 acknowledged %s before it could", got.Body)
	}
	d.get(v1.PreviewURL + "/open")
	d.acknowledges(v1)
}

// archivesWithMessages archives v with 20 messages that wait; it continues with them after a
// wake.
func (d *daemon) archivesWithMessages(v api.Version) {
	d.t.Helper()
	ctx, q := d.t.Context(), client.Queue{Project: v.ProjectID, Version: v.ID, Name: "jobs"}
	if _, err := d.client().PauseQueue(ctx, q); err != nil {
		d.t.Fatal(err)
	}
	d.get(v.PreviewURL + "/send")
	archived, err := d.client().Archive(ctx, v.ProjectID, v.ID)
	if err != nil || archived.Waiting == nil || archived.Waiting.Messages != 20 {
		d.t.Errorf("archived with %v, %v", archived.Waiting, err)
	}
	d.ok(d.home, "versions", "wake", v.ProjectID+"/"+v.ID)
	d.queued(v, func(q api.Queue) bool { return q.Paused && q.Ready == 20 })
	if _, err := d.client().ResumeQueue(ctx, q); err != nil {
		d.t.Fatal(err)
	}
	d.acknowledges(v)
}

// queued waits for a state of the queue jobs of v.
func (d *daemon) queued(v api.Version, ok func(api.Queue) bool) {
	d.t.Helper()
	svctest.Succeeds(d.t, "the queue of "+v.ID, func() error {
		q, err := d.client().Queue(d.t.Context(), client.Queue{Project: v.ProjectID, Version: v.ID, Name: "jobs"})
		if err == nil && !ok(q) {
			err = fmt.Errorf("it is %+v", q)
		}
		return err
	})
}

// acknowledges waits until v has acknowledged 20 messages and has no more.
func (d *daemon) acknowledges(v api.Version) {
	d.t.Helper()
	d.queued(v, func(q api.Queue) bool { return q.Ready+q.Delayed+q.Inflight == 0 })
	if got := d.served(v.PreviewURL); got.Body != "20" {
		d.t.Errorf("%s acknowledged %s messages", v.ID, got.Body)
	}
}
