package workflow

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

// drive is one run of an instance.
type drive struct {
	engine   *engine
	token    string // what its requests carry
	instance int64
	name     string
	ctx      context.Context //nolint:containedctx // ends the run
	cancel   context.CancelFunc

	// Only transactions use what follows.
	ord     int64 // of the last step
	crashes int64
	over    bool // it stores nothing more; a current drive is over only until it is forgotten

	mu      sync.Mutex // guards what follows
	stop    bool       // it is to end between two steps
	changed chan struct{}
}

// enter makes the drive of an instance in a transaction that sets its status; nil when there is no place.
func (e *engine) enter(instance int64, name string) *drive {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.worker == nil || e.runs >= maxRuns {
		return nil
	}
	d := &drive{engine: e, token: rand.Text(), instance: instance, name: name, changed: make(chan struct{})}
	d.ctx, d.cancel = context.WithCancel(e.ctx)
	e.runs++
	e.work.Add(1)
	e.drives[d.token], e.current[instance] = d, d
	return d
}

// leave takes back the enter of a transaction that failed.
func (d *drive) leave() {
	d.forget()
	d.cancel()
	e := d.engine
	e.mu.Lock()
	e.runs--
	e.stale = true
	e.mu.Unlock()
	e.wakeUp()
	e.work.Done()
}

// forget ends what the run can do, when the transaction that ends it has been written.
func (d *drive) forget() {
	e := d.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.drives, d.token)
	if e.current[d.instance] == d {
		delete(e.current, d.instance)
	}
}

// find returns the drive with a token; nil when it is over.
func (e *engine) find(token string) *drive {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.drives[token]
}

// of returns the drive of an instance; nil without one.
func (e *engine) of(instance int64) *drive {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.current[instance]
}

// askToStop ends the run between two steps.
func (d *drive) askToStop() { d.change(func() { d.stop = true }) }

// change wakes the requests up that wait for a change of the instance.
func (d *drive) change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
	close(d.changed)
	d.changed = make(chan struct{})
}

func (d *drive) watch() (changed <-chan struct{}, stop bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changed, d.stop
}

// run sends the run to the worker and waits for its end.
func (d *drive) run(job string) {
	e := d.engine
	defer d.leave()
	w := e.serving()
	var result svc.EventResult
	err := errStopping
	if w != nil {
		result, err = w.Dispatch(d.ctx, svc.Event{Workflow: &svc.WorkflowRun{Workflow: e.name, Instance: d.name, Job: job}})
	}
	for d.settle(result, err) != nil { // the disk may be full
		select {
		case <-time.After(retryPause):
		case <-d.ctx.Done(): // the row says that it runs: the next process finds it
			return
		}
	}
}

// settle writes how a run ended that did not say so itself.
func (d *drive) settle(result svc.EventResult, dispatched error) error {
	ctx := context.WithoutCancel(d.ctx)
	return d.engine.db.Write(ctx, func(c *raw.Conn) error {
		if d.over || dispatched == nil && result.Outcome == svc.OutcomeExited { // the next process finds what has died
			return nil
		}
		d.over = true
		return c.InTx("BEGIN IMMEDIATE", func() error {
			if dispatched != nil || result.Outcome == svc.OutcomeCanceled {
				return d.interrupted(c)
			}
			return d.died(c, result)
		})
	})
}

// interrupted is the end of a run that the platform ended: the steps under way were not tried.
func (d *drive) interrupted(c *raw.Conn) error {
	if err := c.Exec(`UPDATE step SET attempts = attempts - 1, state = 'waiting', due = ?2 WHERE instance = ?1 AND state = 'running'`, d.instance, now()); err != nil {
		return err
	}
	return d.rest(c, now())
}
