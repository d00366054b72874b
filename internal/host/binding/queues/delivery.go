package queues

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// deliver sends b to the worker and records what became of its messages.
func (c *consumer) deliver(ctx context.Context, w binding.Worker, b *batch) {
	keep := context.WithoutCancel(ctx) // what happened is recorded in any case
	begun := make(chan int64, 1)
	go func() { begun <- c.begin(keep, b) }() // beside the worker: it is for crashes alone
	r, err := w.Dispatch(ctx, b.event(c.name))
	record := <-begun
	if err != nil { // the worker has not seen it
		_ = c.write(keep, func(conn *raw.Conn) error { return conn.Exec(sqlEnd, record) })
		c.fail()
		return
	}
	c.tally.delivered(r.Outcome)
	var sum summary
	err = c.write(keep, func(conn *raw.Conn) (err error) {
		sum, err = c.end(conn, record, b, r)
		return err
	})
	if err != nil {
		c.fail() // the messages are delivered again
		return
	}
	c.tally.add(sum)
	c.succeed()
	if c.dead != nil && sum.Dead > 0 {
		_ = c.dead.write(keep, func(*raw.Conn) error { return nil }) // it counts, and tells the consumer
	}
}

// begin records that b is under way; 0 when that failed, which costs no more than an
// attempt that is not counted after a crash.
func (c *consumer) begin(ctx context.Context, b *batch) (record int64) {
	ids := make([]int64, len(b.messages))
	for i, m := range b.messages {
		ids[i] = m.id
	}
	text, err := json.Marshal(ids)
	if err != nil { // numbers can be encoded
		return 0
	}
	_ = c.db.Write(ctx, func(conn *raw.Conn) error {
		if err := conn.Exec(sqlBegin, c.id, string(text)); err != nil {
			return err
		}
		record = conn.LastInsertRowID()
		return nil
	})
	return record
}

// end records in conn's transaction how a delivery ended.
func (c *consumer) end(conn *raw.Conn, record int64, b *batch, r svc.EventResult) (sum summary, err error) {
	if err := conn.Exec(sqlEnd, record); err != nil {
		return sum, err
	}
	now := millis(time.Now())
	judge := newJudge(c.settings, r)
	gone, goneBytes, dead, deadBytes := 0, int64(0), 0, int64(0)
	for i := range b.messages {
		m := &b.messages[i]
		v := judge.verdict(m)
		if v.fate == dies && c.dead == nil {
			v.fate = dropped
		}
		hit, err := c.apply(conn, m, v, now)
		if err != nil {
			return sum, err
		}
		if !hit {
			continue // purged, or moved, meanwhile
		}
		sum.count(v.fate)
		if v.fate != retried {
			gone, goneBytes = gone+1, goneBytes+int64(len(m.body))
		}
		if v.fate == dies {
			dead, deadBytes = dead+1, deadBytes+int64(len(m.body))
		}
	}
	if dead > 0 {
		if err := c.dead.account(conn, dead, deadBytes); err != nil {
			return sum, err
		}
	}
	return sum, c.account(conn, -gone, -goneBytes)
}

// apply changes the row of m. hit is false when it is no longer there.
func (c *consumer) apply(conn *raw.Conn, m *message, v verdict, now int64) (hit bool, err error) {
	switch v.fate {
	case retried:
		err = conn.Exec(sqlRetry, m.id, c.id, m.key, now+v.delay*1000, m.attempts+1)
	case dies:
		err = conn.Exec(sqlBury, m.id, c.id, m.key, c.dead.id, now)
	case acked, dropped:
		err = conn.Exec(sqlDelete, m.id, c.id, m.key)
	}
	return conn.Changes() > 0, err
}

// fate is what becomes of a message after a delivery.
type fate int

const (
	acked fate = iota
	retried
	dies    // it moves to the dead letter queue
	dropped // it had its last delivery, and there is no such queue
)

type verdict struct {
	fate  fate
	delay int64 // seconds, of retried
}

// judge decides on the messages of one delivery.
type judge struct {
	settings settings
	result   svc.EventResult
	queue    svc.QueueResult
	cut      bool // the delivery ended by something else than the worker's doing
	retries  map[string]int
}

func newJudge(s settings, r svc.EventResult) *judge {
	j := &judge{settings: s, result: r, cut: r.Outcome == svc.OutcomeCanceled || r.Outcome == svc.OutcomeExited, retries: map[string]int{}}
	if r.Queue != nil {
		j.queue = *r.Queue
	}
	for _, m := range j.queue.Retried {
		j.retries[m.ID] = m.Delay
	}
	return j
}

// verdict follows the rules of svc.QueueResult.
func (j *judge) verdict(m *message) verdict {
	delay, asked := j.retries[m.key]
	again := asked
	if !asked {
		delay = svc.QueueDelay
		if j.queue.RetryAll {
			delay = j.queue.RetryDelay
		}
		again = !j.queue.AckAll && (j.queue.RetryAll || j.result.Outcome != svc.OutcomeOK)
	}
	if !again || slices.Contains(j.queue.Acked, m.key) {
		return verdict{fate: acked}
	}
	allowed := j.settings.retries
	if j.cut {
		allowed += cutRetries
	}
	if m.attempts+1 > allowed {
		return verdict{fate: dies}
	}
	if delay < 0 {
		delay = int(j.settings.retryDelay)
	}
	return verdict{retried, int64(delay)}
}
