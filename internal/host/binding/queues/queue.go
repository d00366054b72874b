package queues

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
)

// queue is one queue of a version: what its producers, its consumer and the queues
// whose dead letters it receives share.
type queue struct {
	name  string
	id    int64
	db    volume.Database
	limit int64 // of messages that producers store; 0 for none

	backlog atomic.Int64  // number of messages, whatever their state
	oldest  atomic.Int64  // when the oldest was sent, in milliseconds since 1970; 0 for none
	changed chan struct{} // holds a token when the consumer has something to look at
	tally   tally

	mu       sync.Mutex // guards what follows
	consumer *consumer  // nil for none
	paused   bool
	leased   map[int64]bool // ids of the messages that are with the worker
}

// openQueue opens the queue of that name, which it creates. Deliveries that the last
// process had under way have ended.
func openQueue(ctx context.Context, name string, db volume.Database, limit int64) (*queue, error) {
	q := &queue{name: name, db: db, limit: limit, changed: make(chan struct{}, 1), leased: map[int64]bool{}}
	if err := q.write(ctx, q.prepare); err != nil {
		return nil, fmt.Errorf("opening the queue %q: %w", name, err)
	}
	return q, nil
}

func (q *queue) prepare(c *raw.Conn) error {
	if err := c.Script(schema); err != nil {
		return fmt.Errorf("making the tables of queues: %w", err)
	}
	if err := c.Exec(`INSERT INTO queue (name) VALUES (?1) ON CONFLICT DO NOTHING`, q.name); err != nil {
		return err
	}
	err := c.Query(`SELECT id, paused FROM queue WHERE name = ?1`, []any{q.name}, func(s *raw.Stmt) error {
		q.id, q.paused = s.Int64(0), s.Int64(1) != 0
		return nil
	})
	if err != nil {
		return err
	}
	if err := c.Exec(sqlCutOff, q.id); err != nil {
		return err
	}
	return c.Exec(sqlForget, q.id)
}

// write runs fn in a transaction and has the consumer look at the queue afterwards.
func (q *queue) write(ctx context.Context, fn func(*raw.Conn) error) error {
	defer q.notify()
	return q.db.Write(ctx, func(c *raw.Conn) error {
		var m metrics
		err := c.InTx("BEGIN IMMEDIATE", func() (err error) {
			if err = fn(c); err == nil {
				m, err = q.measure(c)
			}
			return err
		})
		if err == nil {
			q.backlog.Store(m.Count)
			q.oldest.Store(m.Oldest)
		}
		return err
	})
}

// notify has the consumer look at the queue.
func (q *queue) notify() {
	select {
	case q.changed <- struct{}{}:
	default: // it will
	}
}

// account records in c's transaction that messages came or went.
func (q *queue) account(c *raw.Conn, messages int, bytes int64) error {
	if messages == 0 {
		return nil
	}
	return c.Exec(sqlAccount, q.id, messages, bytes)
}

// metrics describe a queue to its producers.
type metrics struct {
	Count  int64 `json:"backlogCount"`
	Bytes  int64 `json:"backlogBytes"`
	Oldest int64 `json:"oldestMessageTimestamp"` // milliseconds since 1970; 0 for none
}

func (q *queue) measure(c *raw.Conn) (m metrics, err error) {
	err = c.Query(sqlMeasure, []any{q.id}, func(s *raw.Stmt) error {
		m = metrics{s.Int64(0), s.Int64(1), s.Int64(2)}
		return nil
	})
	return m, err
}

// metrics reads them.
func (q *queue) metrics(ctx context.Context) (m metrics, err error) {
	err = q.db.Read(ctx, func(c *raw.Conn) error {
		m, err = q.measure(c)
		return err
	})
	return m, err
}

// send stores messages, all or none. When it returns nil they are as durable as every
// acknowledged write of the version.
func (q *queue) send(ctx context.Context, list []message) (m metrics, err error) {
	err = q.write(ctx, func(c *raw.Conn) error {
		if err := q.hasRoom(len(list)); err != nil {
			return err
		}
		now := millis(time.Now())
		var size int64
		for i := range list {
			to := &list[i]
			size += int64(len(to.body))
			if err := c.Exec(sqlInsert, q.id, now+to.delay*1000, now, to.key, to.contentType, to.body); err != nil {
				return err
			}
		}
		if err := q.account(c, len(list), size); err != nil {
			return err
		}
		m, err = q.measure(c)
		return err
	})
	return m, err
}

// hasRoom refuses n more messages if the queue would have more than its limit, in a transaction:
// nothing else writes. Messages that move from another queue are not refused: they would be lost.
func (q *queue) hasRoom(n int) error {
	if have := q.backlog.Load(); q.limit > 0 && have+int64(n) > q.limit {
		return refuse(http.StatusInsufficientStorage, "storage limit exceeded: the queue %s has %d messages, and %d more exceed limit of %d (SVC_MAX_QUEUE_MESSAGES)",
			q.name, have, n, q.limit)
	}
	return nil
}

// isPaused reports whether the consumer is to receive nothing.
func (q *queue) isPaused() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.paused
}

// leases are the messages that are with the worker. A reader of the database must get
// them first: a lease ends after the message was deleted.
func (q *queue) leases() map[int64]bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return maps.Clone(q.leased)
}

// attach says which consumer the queue has; nil for none.
func (q *queue) attach(c *consumer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.consumer = c
}

func (q *queue) lease(list []message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range list {
		q.leased[m.id] = true
	}
}

// release ends the leases and has the consumer look again.
func (q *queue) release(list []message) {
	q.mu.Lock()
	for _, m := range list {
		delete(q.leased, m.id)
	}
	q.mu.Unlock()
	q.notify()
}

func millis(t time.Time) int64 { return t.UnixMilli() }
