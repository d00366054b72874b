package queues

import "github.com/svcctl/svcctl/internal/bundle"

// The defaults of a consumer: Cloudflare's, where it has one.
const (
	defaultBatch       = 10
	defaultTimeout     = 5 // seconds
	defaultRetries     = 3
	defaultConcurrency = 10
)

// maxDelivery is how many bytes of bodies one delivery has, unless it is one message:
// they are in the memory of the worker, as text.
const maxDelivery = 4 << 20

// cutRetries is how many more deliveries a message has that did not end by what the
// worker did, but by the end of its process or of the version.
const cutRetries = 10

// settings are those of a consumer.
type settings struct {
	batch       int   // messages
	timeout     int64 // milliseconds that a message waits for a full batch
	retries     int   // deliveries of a message after the first
	retryDelay  int64 // seconds
	dead        string
	concurrency int // batches
}

func settingsOf(c bundle.QueueConsumer) settings {
	or := func(value *int, otherwise int) int {
		if value == nil {
			return otherwise
		}
		return *value
	}
	return settings{
		batch: or(c.MaxBatchSize, defaultBatch), timeout: int64(or(c.MaxBatchTimeout, defaultTimeout)) * 1000,
		retries: or(c.MaxRetries, defaultRetries), retryDelay: int64(or(c.RetryDelay, 0)),
		dead: c.DeadLetterQueue, concurrency: or(c.MaxConcurrency, defaultConcurrency),
	}
}

// waiting is a message that is due and not leased.
type waiting struct {
	id, due int64
	retried bool // it was delivered before
}

// full reports whether ready, in the order of delivery, is a batch now. Otherwise at is
// when it becomes one without another message. A retried message has waited already.
func (s settings) full(ready []waiting, now int64) (yes bool, at int64) {
	if len(ready) == 0 {
		return false, 0
	}
	if len(ready) >= s.batch {
		return true, 0
	}
	for _, m := range ready {
		if m.retried {
			return true, 0
		}
	}
	at = ready[0].due + s.timeout
	return at <= now, at
}
