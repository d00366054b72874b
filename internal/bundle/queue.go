package bundle

import (
	"strconv"

	"github.com/svcctl/svcctl/internal/svc"
)

// The limits of queue consumers, which are Cloudflare's.
const (
	MaxQueueBatch       = 100   // messages
	MaxQueueTimeout     = 60    // seconds
	MaxQueueRetries     = 100   // of a message
	MaxQueueDelay       = 86400 // seconds
	MaxQueueConcurrency = 250   // batches
)

// QueueConsumer declares that the worker receives the messages of a queue. The zero
// value of a field that is a pointer is its default.
type QueueConsumer struct {
	Queue           string `json:"queue"`
	MaxBatchSize    *int   `json:"max_batch_size,omitempty"`    // messages; 10
	MaxBatchTimeout *int   `json:"max_batch_timeout,omitempty"` // seconds; 5
	MaxRetries      *int   `json:"max_retries,omitempty"`       // deliveries after the first; 3
	RetryDelay      *int   `json:"retry_delay,omitempty"`       // seconds; 0
	DeadLetterQueue string `json:"dead_letter_queue,omitempty"` // "" drops a message after its last delivery
	MaxConcurrency  *int   `json:"max_concurrency,omitempty"`   // batches at the same time; 10
}

// QueueProducer is the config of a binding of kind queue_producer.
type QueueProducer struct {
	DeliveryDelay int `json:"delivery_delay,omitempty"` // seconds, of messages without a delay of their own
}

var queuePattern = pattern(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`) //nolint:gochecknoglobals // a constant

// IsQueueName reports whether a queue may have that name.
func IsQueueName(name string) bool { return queuePattern().MatchString(name) }

// QueueNameRule says in words what IsQueueName checks.
const QueueNameRule = "1 to 63 letters, digits, hyphens and underscores, the first a letter or a digit"

// queues checks the consumers of queues.
func (p *problems) queues(m Manifest) {
	seen := map[string]bool{}
	for i, c := range m.QueueConsumers {
		at := "/queue_consumers/" + strconv.Itoa(i)
		if !IsQueueName(c.Queue) {
			p.add(at+"/queue", svc.CodeManifestInvalid, "the name of a queue has %s; not %q", QueueNameRule, c.Queue)
		}
		if seen[c.Queue] {
			p.add(at+"/queue", svc.CodeManifestInvalid, "the queue %q has two consumers", c.Queue)
		}
		seen[c.Queue] = true
		if c.DeadLetterQueue != "" && !IsQueueName(c.DeadLetterQueue) {
			p.add(at+"/dead_letter_queue", svc.CodeManifestInvalid, "the name of a queue has %s; not %q", QueueNameRule, c.DeadLetterQueue)
		}
		if c.DeadLetterQueue == c.Queue && c.Queue != "" {
			p.add(at+"/dead_letter_queue", svc.CodeManifestInvalid, "the queue %q is its own dead letter queue", c.Queue)
		}
		for _, f := range c.Numbers() {
			if f.Value != nil && (*f.Value < f.Min || *f.Value > f.Max) {
				p.add(at+"/"+f.Name, svc.CodeManifestInvalid, "want a number from %d to %d", f.Min, f.Max)
			}
		}
	}
}

// QueueNumber is a numeric field of a QueueConsumer and its range.
type QueueNumber struct {
	Name     string // in JSON
	Value    *int   // nil for the default
	Min, Max int
}

// Numbers lists the numeric fields of c.
func (c QueueConsumer) Numbers() []QueueNumber {
	return []QueueNumber{
		{"max_batch_size", c.MaxBatchSize, 1, MaxQueueBatch},
		{"max_batch_timeout", c.MaxBatchTimeout, 0, MaxQueueTimeout},
		{"max_retries", c.MaxRetries, 0, MaxQueueRetries},
		{"retry_delay", c.RetryDelay, 0, MaxQueueDelay},
		{"max_concurrency", c.MaxConcurrency, 1, MaxQueueConcurrency},
	}
}
