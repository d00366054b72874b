package queues_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/queues"
)

// script is a worker whose requests are calls on its queues, [binding, method, arguments], and
// which remembers the batches it received. A message {do} says what its consumer does.
const script = `
const seen = [];
const running = {}, most = {};
const argument = (a) => {
  if (Array.isArray(a)) return a.map(argument);
  if (a === null || typeof a !== "object") return a;
  if ("$bytes" in a) return new Uint8Array(a.$bytes);
  if ("$map" in a) return new Map(a.$map);
  return Object.fromEntries(Object.entries(a).map(([k, v]) => [k, argument(v)]));
};
const shown = (v) => v instanceof ArrayBuffer ? { bytes: [...new Uint8Array(v)] } : v instanceof Map ? { map: [...v] } : v;
export default {
  async fetch(request, env) {
    const [name, method, ...args] = await request.json();
    switch (name) {
      case "seen": // waits for a number of messages
        while (seen.reduce((n, b) => n + b.messages.length, 0) < method) await scheduler.wait(2);
        return Response.json(seen);
      case "running": // waits for the first batch of a queue
        while (!most[method]) await scheduler.wait(2);
        return Response.json(null);
      case "most": return Response.json(most[method]);
    }
    try { return Response.json({ value: await env[name][method](...argument(args)) ?? null }); }
    catch (e) { return Response.json({ error: String(e) }); }
  },
  async queue(batch) {
    const { queue } = batch;
    running[queue] = (running[queue] ?? 0) + 1;
    most[queue] = Math.max(most[queue] ?? 0, running[queue]);
    const messages = batch.messages.map((m) => ({
      id: m.id, attempts: m.attempts, body: shown(m.body), after: Date.now() - m.timestamp.getTime(),
    }));
    seen.push({ queue: batch.queue, messages });
    let all = [];
    for (const m of batch.messages) {
      switch (m.body?.do) {
        case "retry": if ((m.body.in ?? queue) === queue && m.attempts <= (m.body.times ?? 1)) m.retry(m.body.options); break;
        case "ack": m.ack(); break;
        case "wait": await scheduler.wait(m.body.ms); break;
        case "pair": while (most[queue] < 2) await scheduler.wait(2); break;
        case "throw": if (m.attempts <= (m.body.times ?? 1)) all.push(() => { throw new Error("on purpose"); }); break;
        case "retryAll": if (m.attempts === 1) all.push(() => batch.retryAll(m.body.options)); break;
        case "ackAll": all.push(() => { batch.ackAll(); throw new Error("after ackAll"); }); break;
      }
    }
    running[queue]--;
    all.forEach((f) => f());
  },
};`

// world is a worker with queues.
type world struct {
	t      *testing.T
	set    *binding.Set
	worker *bindingtest.Worker
}

// open opens a worker that sends to and receives from the queues of consumers, by
// bindings of their names.
func open(t *testing.T, v volume.Volumes, consumers ...bundle.QueueConsumer) *world {
	t.Helper()
	w := &world{t: t, set: openSet(t, v, consumers...)}
	w.worker = bindingtest.Start(t, w.set, script)
	w.start()
	return w
}

// start has the consumers begin.
func (w *world) start() {
	w.t.Helper()
	if err := w.set.Start(w.t.Context(), w.worker); err != nil {
		w.t.Fatal(err)
	}
}

func openSet(t *testing.T, v volume.Volumes, consumers ...bundle.QueueConsumer) *binding.Set {
	t.Helper()
	return openLimited(t, v, 0, consumers...)
}

// openLimited has queues of limit messages; 0 is no limit.
func openLimited(t *testing.T, v volume.Volumes, limit int, consumers ...bundle.QueueConsumer) *binding.Set {
	t.Helper()
	m := &bundle.Manifest{QueueConsumers: consumers}
	for _, c := range consumers {
		m.Bindings = append(m.Bindings, bundle.Binding{Name: c.Queue, Kind: "queue_producer", Resource: c.Queue})
	}
	set, err := binding.OpenAll(t.Context(), queues.Kinds(limit), m, v)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	return set
}

type (
	args   = []any
	object = map[string]any
)

// call makes a call of the worker on one of its bindings.
func (w *world) call(binding, method string, rest ...any) string {
	w.t.Helper()
	return w.post(append(args{binding, method}, rest...))
}

func (w *world) post(call args) string {
	w.t.Helper()
	text, err := json.Marshal(call)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.worker.Post(w.t, "/", string(text))
}

// send sends and fails the test when that is refused.
func (w *world) send(binding, method string, rest ...any) {
	w.t.Helper()
	var answer struct {
		Error string `json:"error"`
	}
	if text := w.call(binding, method, rest...); json.Unmarshal([]byte(text), &answer) != nil || answer.Error != "" {
		w.t.Errorf("%s of %v: %s", method, rest, text)
	}
}

// received is a batch that the worker saw.
type received struct {
	Queue    string            `json:"queue"`
	Messages []receivedMessage `json:"messages"`
}

type receivedMessage struct {
	ID       string `json:"id"`
	Attempts int    `json:"attempts"`
	Body     any    `json:"body"`
	After    int    `json:"after"` // milliseconds since it was sent
}

// seen waits until the worker has seen this number of messages, and gives all batches.
func (w *world) seen(messages int) (list []received) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(w.post(args{"seen", messages})), &list); err != nil {
		w.t.Fatal(err)
	}
	return list
}

// order is what was seen of one queue: bodies and attempts.
func order(list []received, queue string) (out []string) {
	for _, b := range list {
		for _, m := range b.Messages {
			if b.Queue == queue {
				out = append(out, fmt.Sprint(m.Body, " ", m.Attempts))
			}
		}
	}
	return out
}

// batch is the argument of sendBatch for messages with these bodies.
func batch(bodies ...any) args {
	list := args{}
	for _, b := range bodies {
		list = append(list, object{"body": b})
	}
	return list
}

// quick is a consumer that waits for nothing.
func quick(queue string) bundle.QueueConsumer {
	return bundle.QueueConsumer{Queue: queue, MaxBatchTimeout: new(0), MaxConcurrency: new(1)}
}
