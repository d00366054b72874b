//go:build e2e

package e2e

import (
	"fmt"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

const verdictScript = `
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/bad") await env.JOBS.sendBatch([{ body: "bad" }, { body: "bad" }, { body: "bad" }]);
    if (pathname === "/good") {
      await env.JOBS.sendBatch(Array.from({ length: 5 }, () => ({ body: "good" })));
      await env.JOBS.sendBatch(Array.from({ length: 4 }, () => ({ body: "later" })), { delaySeconds: 3600 });
    }
    return new Response("sent");
  },
  async queue(batch) {
    for (const m of batch.messages) if (m.body === "bad") m.retry();
  },
};`

// TestQueuesOfChild: a child begins with the ready, the delayed and the dead messages of its
// parent, and with its pause. Then what is done to the queues of one does not change those of the other.
// spec: [C2.12]
func TestQueuesOfChild(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := worker(t, `{ "name": "jobs", "main": "index.js", "compatibility_date": "2026-11-01",
		"queues": { "producers": [{ "binding": "JOBS", "queue": "jobs" }, { "binding": "DEAD", "queue": "dead" }],
			"consumers": [{ "queue": "jobs", "max_batch_timeout": 0, "max_retries": 0, "dead_letter_queue": "dead" }] } }`,
		map[string]string{"index.js": verdictScript})
	parent := d.deploy(dir, "--version", "parent")
	d.get(parent.PreviewURL + "/bad")
	d.waiting(parent, "dead", 3, 0)
	d.changed(d.client().PauseQueue(t.Context(), queueOf(parent, "jobs")))
	d.get(parent.PreviewURL + "/good")
	d.waiting(parent, "jobs", 5, 4)

	child := d.deploy(dir, "--version", "child", "--parent", "parent")
	d.waiting(child, "dead", 3, 0)
	if q := d.waiting(child, "jobs", 5, 4); !q.Paused {
		t.Error("the child's queue is not paused")
	}
	d.changed(d.client().ResumeQueue(t.Context(), queueOf(child, "jobs")))
	d.waiting(child, "jobs", 0, 4)
	d.changed(d.client().PurgeQueue(t.Context(), queueOf(child, "dead")))
	d.waiting(child, "dead", 0, 0)

	d.waiting(parent, "dead", 3, 0)
	if q := d.waiting(parent, "jobs", 5, 4); !q.Paused {
		t.Error("the parent's queue is not paused any more")
	}
	d.changed(d.client().PurgeQueue(t.Context(), queueOf(parent, "jobs")))
	d.waiting(parent, "jobs", 0, 0)
	d.waiting(child, "jobs", 0, 4)
}

func queueOf(v api.Version, name string) client.Queue {
	return client.Queue{Project: v.ProjectID, Version: v.ID, Name: name}
}

// changed wants that an action succeeded.
func (d *daemon) changed(_ any, err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// waiting waits until a queue of v has these numbers of messages, and none with the worker.
func (d *daemon) waiting(v api.Version, name string, ready, delayed int64) (q api.Queue) {
	d.t.Helper()
	svctest.Succeeds(d.t, "the queue "+name+" of "+v.ID, func() (err error) {
		q, err = d.client().Queue(d.t.Context(), queueOf(v, name))
		if err == nil && (q.Ready != ready || q.Delayed != delayed || q.Inflight != 0) {
			err = fmt.Errorf("%d ready, %d delayed, %d with the worker", q.Ready, q.Delayed, q.Inflight)
		}
		return err
	})
	return q
}
