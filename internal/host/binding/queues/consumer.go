package queues

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// How long the consumer waits after a delivery that did not reach the worker, or whose
// end could not be recorded: the first time, and at most.
const (
	minBackoff = time.Second
	maxBackoff = time.Minute
)

// consumer is the Instance that delivers a queue's messages to the worker.
type consumer struct {
	*queue

	settings settings
	dead     *queue // nil for none
	registry *registry

	inside atomic.Int64 // batches under way
	wake   atomic.Int64 // when there is something to deliver: milliseconds since 1970; 0 for never

	stop    chan struct{}  // closed to deliver no more
	running sync.WaitGroup // the loop and the deliveries

	mu       sync.Mutex // guards what follows
	failures int        // since a delivery went well
	resume   int64      // not before: milliseconds since 1970
}

var _ interface {
	binding.Backlogged
	binding.Waiter
} = (*consumer)(nil)

// Close gives the queues back. It is called after Stop.
func (c *consumer) Close() error {
	c.attach(nil)
	if c.dead != nil {
		c.registry.put(c.dead)
	}
	c.registry.put(c.queue)
	return nil
}

// Start begins to deliver.
func (c *consumer) Start(ctx context.Context, w binding.Worker) error {
	c.stop = make(chan struct{})
	c.running.Go(func() { c.run(ctx, w) })
	return nil
}

// Stop delivers no more and waits for what is under way. It then looks when there is something
// to deliver, for NextWake: the last deliveries have changed that.
func (c *consumer) Stop() {
	close(c.stop)
	c.running.Wait()
	select {
	case <-c.changed:
	default:
	}
	ctx, cancel := context.WithTimeout(context.Background(), binding.AdminTime) //nolint:forbidigo // Stop gets none
	defer cancel()
	b, at, err := c.pick(ctx, millis(time.Now()))
	switch {
	case err != nil: // a database that is closed has nothing to deliver
		return
	case b != nil:
		c.release(b.messages)
		at = millis(time.Now())
	}
	c.wake.Store(at)
}

// NextWake says when the next batch is due: now while one is under way, and after a change
// that the loop has not seen, perhaps because it was stopped.
func (c *consumer) NextWake() (time.Time, bool) {
	at := c.wake.Load()
	if c.inside.Load() > 0 || len(c.changed) > 0 && c.backlog.Load() > 0 && !c.isPaused() {
		return time.Now(), true
	}
	return time.UnixMilli(at), at != 0
}

// Pending counts the messages under way, or all that are not acknowledged if one of them is
// due. Those with a delay wait for NextWake, and those of a paused queue for a person. [D24]
func (c *consumer) Pending() int {
	if at, ok := c.NextWake(); ok && !at.After(time.Now()) && !c.isPaused() {
		return int(c.backlog.Load())
	}
	return int(c.inside.Load())
}

// Waiting counts the messages that are not acknowledged.
func (c *consumer) Waiting() svc.Waiting { return svc.Waiting{Messages: int(c.backlog.Load())} }

// Queues describes the queue, and that of its dead letters unless another consumer does.
func (c *consumer) Queues() []svc.QueueStatus {
	outcomes, _ := c.tally.get()
	list := []svc.QueueStatus{{Name: c.name, Backlog: c.backlog.Load(), Oldest: c.oldest.Load(), Deliveries: outcomes}}
	if c.dead != nil && c.dead.consumedBy() == nil {
		list = append(list, svc.QueueStatus{Name: c.dead.name, Backlog: c.dead.backlog.Load(), Oldest: c.dead.oldest.Load()})
	}
	return list
}

// run starts a delivery for each batch until the consumer is stopped.
func (c *consumer) run(ctx context.Context, w binding.Worker) {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	for {
		if b := c.next(ctx, timer); b != nil {
			c.running.Go(func() {
				c.deliver(ctx, w, b)
				c.inside.Add(-1)
				c.release(b.messages)
			})
			continue
		}
		select {
		case <-c.stop:
			return
		case <-ctx.Done():
			return
		case <-c.changed:
		case <-timer.C:
		}
	}
}

// next is a batch to deliver now, which counts as under way, or nil: then timer is set,
// unless only a change of the queue makes a batch.
func (c *consumer) next(ctx context.Context, timer *time.Timer) *batch {
	timer.Stop()
	select {
	case <-c.stop:
		return nil
	default:
	}
	b, at, err := c.pick(ctx, millis(time.Now()))
	if err != nil {
		at = c.fail()
	}
	if b != nil {
		c.inside.Add(1) // first: NextWake always sees one of the two
	}
	c.wake.Store(at)
	if b == nil && at != 0 {
		timer.Reset(max(0, time.Until(time.UnixMilli(at))))
	}
	return b
}

// fail records that a delivery could not be made or recorded, and gives the time to try
// again.
func (c *consumer) fail() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	wait := min(minBackoff<<min(c.failures, 10), maxBackoff)
	c.failures++
	c.resume = millis(time.Now().Add(wait))
	return c.resume
}

func (c *consumer) succeed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures, c.resume = 0, 0
}

// resumes is when the consumer may deliver again after a failure; 0 when it may already.
func (c *consumer) resumes(now int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resume <= now {
		return 0
	}
	return c.resume
}
