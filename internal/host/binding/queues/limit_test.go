package queues_test

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestLimit: a queue takes no more messages than its limit, and no part of a batch. What moves
// to a dead letter queue is stored all the same.
func TestLimit(t *testing.T) {
	t.Parallel()
	one := quick("one")
	one.MaxRetries, one.DeadLetterQueue = new(0), "dead"
	w := &world{t: t, set: openLimited(t, bindingtest.OpenVolumes(t, t.TempDir()), 3, one, bundle.QueueConsumer{Queue: "dead"})}
	w.worker = bindingtest.Start(t, w.set, script)
	refused := func(text string) {
		t.Helper()
		if !strings.Contains(text, "storage limit exceeded: the queue ") || !strings.Contains(text, "exceed limit of 3 (SVC_MAX_QUEUE_MESSAGES)") {
			t.Error(text)
		}
	}
	fails := object{"do": "throw", "times": 100}
	w.want("POST", "/queues/one/pause", "", `{"name":"one"`)
	w.send("one", "sendBatch", batch(fails, fails))
	refused(w.call("one", "sendBatch", batch(fails, fails)))
	w.want("GET", "/queues/one", "", `{"name":"one","paused":true,"ready":2,`)
	w.send("one", "send", fails)
	refused(w.call("one", "send", fails))
	w.want("POST", "/queues/one/messages", `{"body": 1}`, "queue_messages_exceeded")
	w.want("POST", "/queues/dead/pause", "", `{"name":"dead"`)
	w.send("dead", "sendBatch", batch(1, 2, 3))
	w.start()
	w.want("POST", "/queues/one/resume", "", `{"name":"one"`)
	svctest.Eventually(t, "three dead messages beside the three", func() bool {
		return strings.HasPrefix(w.api("GET", "/queues/dead", ""), `{"name":"dead","paused":true,"ready":6,`)
	})
	refused(w.call("dead", "send", 1))
	w.send("one", "send", object{"do": "wait", "ms": 1})
}
