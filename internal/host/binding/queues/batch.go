package queues

import (
	"context"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

// batch is what one delivery has. Its messages are leased.
type batch struct {
	messages []message
	metrics  metrics // of the queue
}

// event is how the worker gets b.
func (b *batch) event(queue string) svc.Event {
	list := make([]svc.QueueMessage, len(b.messages))
	for i := range b.messages {
		list[i] = b.messages[i].event()
	}
	return svc.Event{Queue: &svc.QueueBatch{
		Queue: queue, Messages: list,
		Backlog: svc.QueueBacklog{Count: b.metrics.Count, Bytes: b.metrics.Bytes, Oldest: b.metrics.Oldest},
	}}
}

// pick leases a batch. Without one it says when there is something to deliver: at is in
// milliseconds since 1970, and 0 when that takes a change of the queue. Only the loop of
// the consumer calls pick.
func (c *consumer) pick(ctx context.Context, now int64) (b *batch, at int64, err error) {
	if c.isPaused() || int(c.inside.Load()) >= c.settings.concurrency {
		return nil, 0, nil
	}
	if at := c.resumes(now); at != 0 {
		return nil, at, nil
	}
	leased := c.leases() // before anything is read
	err = c.db.Read(ctx, func(conn *raw.Conn) error {
		ready, err := c.ready(conn, leased, now)
		if err != nil {
			return err
		}
		var full bool
		if full, at = c.settings.full(ready, now); full {
			b, err = c.load(conn, ready)
			return err
		}
		return conn.Query(sqlLater, []any{c.id, now}, func(s *raw.Stmt) error {
			if next := s.Int64(0); next != 0 && (at == 0 || next < at) {
				at = next
			}
			return nil
		})
	})
	if err != nil || b == nil || c.isPaused() {
		return nil, at, err
	}
	c.lease(b.messages)
	return b, 0, nil
}

// ready are the first messages, in the order of delivery, that are due and not leased.
func (c *consumer) ready(conn *raw.Conn, leased map[int64]bool, now int64) (list []waiting, err error) {
	err = conn.Query(sqlReady, []any{c.id, now, c.settings.batch + len(leased)}, func(s *raw.Stmt) error {
		if id := s.Int64(0); !leased[id] && len(list) < c.settings.batch {
			list = append(list, waiting{id, s.Int64(1), s.Int64(2) > 0})
		}
		return nil
	})
	return list, err
}

// load reads the messages of a batch; nil when they were all deleted meanwhile.
func (c *consumer) load(conn *raw.Conn, ready []waiting) (*batch, error) {
	b := &batch{}
	size := 0
	for _, w := range ready {
		m := message{id: w.id}
		err := conn.Query(sqlLoad, []any{w.id}, func(s *raw.Stmt) error {
			m.key, m.sent, m.attempts, m.contentType, m.body = s.Text(0), s.Int64(1), int(s.Int64(2)), s.Text(3), s.Blob(4)
			return nil
		})
		if err != nil {
			return nil, err
		}
		if size += len(m.body); size > maxDelivery && len(b.messages) > 0 {
			break
		}
		if m.key != "" {
			b.messages = append(b.messages, m)
		}
	}
	if len(b.messages) == 0 {
		return nil, nil // no batch
	}
	var err error
	b.metrics, err = c.measure(conn)
	return b, err
}
