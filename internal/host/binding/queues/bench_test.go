package queues_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/queues"
)

// benchScript sends batches of 100 messages and counts what arrives.
const benchScript = `
let arrived = 0;
const waiting = new Map();
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const n = Number(searchParams.get("n"));
    switch (pathname) {
      case "/send":
        await env.JOBS.sendBatch(Array.from({ length: 100 }, (_, i) => ({ body: { n: i, text: "a message of an ordinary size" } })));
        return new Response("");
      case "/arrived":
        while (arrived < n) await scheduler.wait(1);
        return new Response("");
      default: // there and back
        await env.ONE.send(n);
        while (!waiting.has(n)) await scheduler.wait(1);
        return new Response("");
    }
  },
  async queue(batch) {
    if (batch.queue === "one") for (const m of batch.messages) waiting.set(m.body, true);
    else arrived += batch.messages.length;
  },
};`

func benchWorker(b *testing.B) *bindingtest.Worker {
	b.Helper()
	set, err := binding.OpenAll(b.Context(), queues.Kinds(0), &bundle.Manifest{
		Bindings: []bundle.Binding{
			{Name: "JOBS", Kind: "queue_producer", Resource: "jobs"}, {Name: "ONE", Kind: "queue_producer", Resource: "one"},
		},
		QueueConsumers: []bundle.QueueConsumer{
			{Queue: "jobs", MaxBatchSize: new(100), MaxBatchTimeout: new(1)}, {Queue: "one", MaxBatchSize: new(1), MaxBatchTimeout: new(0)},
		},
	}, bindingtest.OpenVolumes(b, b.TempDir()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = set.Close() })
	w := bindingtest.Start(b, set, benchScript)
	if err := set.Start(b.Context(), w); err != nil {
		b.Fatal(err)
	}
	return w
}

// BenchmarkThroughput: messages from the producer to the end of their consumer, in
// batches of 100 from 4 requests at a time.
func BenchmarkThroughput(b *testing.B) {
	w := benchWorker(b)
	batches := make(chan int)
	var senders sync.WaitGroup
	b.ResetTimer()
	for range 4 {
		senders.Go(func() {
			for range batches {
				w.Post(b, "/send", "")
			}
		})
	}
	for i := range b.N {
		batches <- i
	}
	close(batches)
	senders.Wait()
	sent := b.Elapsed()
	w.Post(b, fmt.Sprintf("/arrived?n=%d", 100*b.N), "")
	b.ReportMetric(float64(100*b.N)/b.Elapsed().Seconds(), "messages/s")
	b.ReportMetric(float64(100*b.N)/sent.Seconds(), "sent/s")
}

// BenchmarkLatency: one message to its consumer and the news back.
func BenchmarkLatency(b *testing.B) {
	w := benchWorker(b)
	var worst time.Duration
	for i := range b.N {
		began := time.Now()
		w.Post(b, fmt.Sprintf("/one?n=%d", i), "")
		worst = max(worst, time.Since(began))
	}
	b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
}

// BenchmarkBacklog: a send beside many messages that wait.
func BenchmarkBacklog(b *testing.B) {
	q := queues.Kinds(0)
	set, err := binding.OpenAll(b.Context(), q, &bundle.Manifest{Bindings: []bundle.Binding{{Name: "B", Kind: "queue_producer", Resource: "b"}}},
		bindingtest.OpenVolumes(b, b.TempDir()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = set.Close() })
	w := bindingtest.Start(b, set, strings.ReplaceAll(strings.ReplaceAll(benchScript, "env.JOBS", "env.B"), "env.ONE", "env.B"))
	for range 1000 {
		w.Post(b, "/send", "")
	}
	b.ResetTimer()
	for range b.N {
		w.Post(b, "/send", "")
	}
}
