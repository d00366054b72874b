package queues

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
)

// listedQueue is one row of GET /queues [D36].
type listedQueue struct {
	Name      string          `json:"name"`
	Paused    bool            `json:"paused"`
	Ready     int64           `json:"ready"`
	Delayed   int64           `json:"delayed"`
	InFlight  int64           `json:"inflight"`
	Size      int64           `json:"size_bytes"`
	OldestAt  *string         `json:"oldest_at"`
	Dead      *string         `json:"dead_letter_queue"`
	Producers []string        `json:"producers"`
	Consumer  *listedConsumer `json:"consumer"`
}

// listedConsumer has the settings of a consumer and what it did since the version
// started.
type listedConsumer struct {
	MaxBatchSize    int              `json:"max_batch_size"`
	MaxBatchTimeout int64            `json:"max_batch_timeout"`
	MaxRetries      int              `json:"max_retries"`
	RetryDelay      int64            `json:"retry_delay"`
	MaxConcurrency  int              `json:"max_concurrency"`
	Deliveries      map[string]int64 `json:"deliveries"`
	Acknowledged    int64            `json:"acknowledged"`
	Retried         int64            `json:"retried"`
	Dead            int64            `json:"dead"`
	Dropped         int64            `json:"dropped"`
}

// listed describes the queue.
func (q opened) listed(ctx context.Context) (l listedQueue, err error) {
	l = listedQueue{Name: q.name, InFlight: int64(len(q.leases())), Producers: q.producers}
	now := millis(time.Now())
	err = q.db.Read(ctx, func(c *raw.Conn) error {
		m, err := q.measure(c)
		if err != nil {
			return err
		}
		l.Size, l.Ready = m.Bytes, m.Count
		if m.Oldest != 0 {
			l.OldestAt = stamp(m.Oldest)
		}
		return c.Query(`SELECT count(*) FROM queue_message WHERE queue = ?1 AND due > ?2`, []any{q.id, now}, func(s *raw.Stmt) error {
			l.Delayed = s.Int64(0)
			return nil
		})
	})
	l.Ready = max(0, l.Ready-l.Delayed-l.InFlight) // a lease outlasts its message for a moment
	l.Paused = q.isPaused()
	if c := q.consumedBy(); c != nil {
		l.Consumer = c.listed()
		if c.settings.dead != "" {
			l.Dead = &c.settings.dead
		}
	}
	return l, err
}

func (q *queue) consumedBy() *consumer {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.consumer
}

func (c *consumer) listed() *listedConsumer {
	outcomes, sum := c.tally.get()
	deliveries := map[string]int64{}
	for o, n := range outcomes {
		deliveries[string(o)] = n
	}
	s := c.settings
	return &listedConsumer{
		MaxBatchSize: s.batch, MaxBatchTimeout: s.timeout / 1000, MaxRetries: s.retries, RetryDelay: s.retryDelay, MaxConcurrency: s.concurrency,
		Deliveries: deliveries, Acknowledged: sum.Acked, Retried: sum.Retried, Dead: sum.Dead, Dropped: sum.Dropped,
	}
}

// stamp is a time as the API has it [D10].
func stamp(ms int64) *string {
	text := binding.Stamp(time.UnixMilli(ms))
	return &text
}
