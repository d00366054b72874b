package queues_test

import (
	"encoding/json"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/queues"
)

func TestProducer(t *testing.T) {
	t.Parallel()
	bindingtest.Run(t, queues.Kinds(0)[0], bindingtest.Suite{
		Good:  bundle.Binding{Name: "B", Kind: "queue_producer", Resource: "one"},
		Other: bundle.Binding{Name: "B", Kind: "queue_producer", Resource: "two"},
		Bad: map[string]bundle.Binding{
			"no resource":   {Name: "B", Kind: "queue_producer"},
			"odd name":      {Name: "B", Kind: "queue_producer", Resource: "a b"},
			"odd config":    {Name: "B", Kind: "queue_producer", Resource: "one", Config: json.RawMessage(`{"delivery_delay": "x"}`)},
			"too long":      {Name: "B", Kind: "queue_producer", Resource: "one", Config: json.RawMessage(`{"delivery_delay": 86401}`)},
			"before it was": {Name: "B", Kind: "queue_producer", Resource: "one", Config: json.RawMessage(`{"delivery_delay": -1}`)},
		},
		Shape: `if (B.constructor.name !== "WorkerQueue" && B.constructor.name !== "Queue") throw new Error(B.constructor.name);`,
		Refused: map[string]string{
			`await B.send("x".repeat(128001), { contentType: "text" })`:                           "message length of 128001 bytes exceeds limit of 128000",
			`await B.sendBatch(Array(101).fill({ body: 1 }))`:                                     "batch message count of 101 exceeds limit of 100",
			`await B.sendBatch(Array(3).fill({ body: "x".repeat(100000), contentType: "text" }))`: "batch size of 300000 bytes exceeds limit of 256000",
			`await B.send(1, { delaySeconds: 86401 })`:                                            "delay of 86401 seconds is not between 0 and 86400",
			`await B.send(1, { contentType: "xml" })`:                                             "xml",
			`await B.send(() => 1, { contentType: "json" })`:                                      "not JSON",
			`await B.sendBatch([])`:                                                               "",
		},
	})
	if err := queues.Kinds(0)[1].Check(bundle.Binding{Name: "B", Kind: "queue_consumer", Resource: "one"}); err == nil {
		t.Error("a consumer among the bindings")
	}
}
