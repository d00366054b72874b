package project

import (
	"encoding/json"
	"slices"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// Producer is one entry of queues.producers.
type Producer struct {
	Binding       string
	Queue         string
	DeliveryDelay int // seconds
}

// queues reads the producers and consumers of queues.
func (l *layers) queues(f *File) {
	n, at := l.get("queues"), l.path("queues")
	if !l.r.is(n, at, kindObject) {
		return
	}
	l.r.members(n, at, []string{"producers", "consumers"}, nil)
	l.list(n.get("producers"), at+".producers", func(at string, n *node) {
		l.r.members(n, at, []string{"binding", "queue", "delivery_delay"}, []string{"remote"})
		p := Producer{Binding: l.nameOf(n, at, "binding"), Queue: l.queueName(n, at, "queue")}
		if delay := l.wholeNumber(n, at, bundle.QueueNumber{Name: "delivery_delay", Max: bundle.MaxQueueDelay}); delay != nil {
			p.DeliveryDelay = *delay
		}
		f.Producers = append(f.Producers, p)
	})
	l.list(n.get("consumers"), at+".consumers", func(at string, n *node) {
		if c, ok := l.consumer(f, at, n); ok {
			f.Consumers = append(f.Consumers, c)
		}
	})
}

// consumer reads one entry of queues.consumers. ok is false for one without a queue.
func (l *layers) consumer(f *File, at string, n *node) (c bundle.QueueConsumer, ok bool) {
	l.r.members(n, at, append(consumerKeys(), "queue", "type", "dead_letter_queue"), []string{"visibility_timeout_ms"})
	if kind := l.r.text(n.get("type"), at+".type"); kind != "" && kind != "worker" {
		l.r.problem(svc.CodeConfigUnsupported, at+".type", n.get("type").pos, "%s is of type %s, which is not supported: the consumer is this worker", at, kind)
	}
	c = bundle.QueueConsumer{Queue: l.queueName(n, at, "queue")}
	if n.get("dead_letter_queue") != nil {
		c.DeadLetterQueue = l.queueName(n, at, "dead_letter_queue")
	}
	fields := []**int{&c.MaxBatchSize, &c.MaxBatchTimeout, &c.MaxRetries, &c.RetryDelay, &c.MaxConcurrency}
	for i, limits := range c.Numbers() {
		*fields[i] = l.wholeNumber(n, at, limits)
	}
	switch {
	case c.Queue == "":
		return c, false
	case slices.ContainsFunc(f.Consumers, func(o bundle.QueueConsumer) bool { return o.Queue == c.Queue }):
		l.r.problem(svc.CodeConfigInvalid, at+".queue", n.pos, "%s is a second consumer of the queue %q, and a queue has one", at, c.Queue)
	case c.DeadLetterQueue == c.Queue:
		l.r.problem(svc.CodeConfigInvalid, at+".dead_letter_queue", n.pos, "%s: the queue %q is its own dead letter queue", at, c.Queue)
	}
	l.fed(f, at, n, c)
	return c, true
}

// fed warns of a consumer that nothing sends to: queues belong to a version, so the
// workers of other projects cannot. Dead letters may arrive from any consumer of the file.
func (l *layers) fed(f *File, at string, n *node, c bundle.QueueConsumer) {
	if slices.ContainsFunc(f.Producers, func(p Producer) bool { return p.Queue == c.Queue }) {
		return
	}
	for _, item := range l.get("queues").get("consumers").items {
		if d := item.get("dead_letter_queue"); d != nil && d.kind == kindString && d.text == c.Queue {
			return
		}
	}
	l.r.warn(n.pos, "%s: no producer of this file sends to the queue %q; a queue belongs to one version, so other projects cannot send to it", at, c.Queue)
}

func consumerKeys() []string {
	var keys []string
	for _, f := range (bundle.QueueConsumer{}).Numbers() {
		keys = append(keys, f.Name)
	}
	return keys
}

// queueName reads the name of a queue, which must be there.
func (l *layers) queueName(n *node, at, key string) string {
	name := n.get(key)
	if name == nil {
		l.r.problem(svc.CodeConfigInvalid, at, n.pos, "%s has no %q%s", at, key, typo(n, key))
		return ""
	}
	text := l.r.text(name, at+"."+key)
	if name.kind == kindString && !bundle.IsQueueName(text) {
		l.r.problem(svc.CodeConfigInvalid, at+"."+key, name.pos, "%s.%s is %q; the name of a queue has %s", at, key, text, bundle.QueueNameRule)
		return ""
	}
	return text
}

// wholeNumber reads the field that limits names; nil for none.
func (l *layers) wholeNumber(n *node, at string, limits bundle.QueueNumber) *int {
	value, at := n.get(limits.Name), at+"."+limits.Name
	if !l.r.is(value, at, kindNumber) {
		return nil
	}
	number := new(int)
	if json.Unmarshal(value.raw, number) != nil || *number < limits.Min || *number > limits.Max {
		l.r.problem(svc.CodeConfigInvalid, at, value.pos, "%s is %s and must be a whole number from %d to %d", at, value.raw, limits.Min, limits.Max)
		return nil
	}
	return number
}
