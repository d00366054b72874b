package workflow

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/svc"
)

// maxRuns is how many instances of a workflow run at the same time. Others are queued;
// those that wait do not count.
const maxRuns = 100

// engine is one workflow: an Instance that runs its instances while the version serves.
type engine struct {
	name  string
	class string
	db    volume.Database
	poke  chan struct{} // holds a token when an instance may be due

	mu      sync.Mutex // guards what follows
	worker  binding.Worker
	ctx     context.Context //nolint:containedctx // of the runs, from Start to Stop
	stop    context.CancelFunc
	drives  map[string]*drive // by token
	current map[int64]*drive  // by instance
	runs    int               // drives whose event is not over
	next    int64             // when an instance is due, in ms; 0 for never
	tally   map[string]int64  // instances by state; older than the last change while stale
	stale   bool
	asked   bool           // for a new tally
	work    sync.WaitGroup // the loop and the runs
}

var (
	_ binding.Waiter   = (*engine)(nil)
	_ binding.Measured = (*engine)(nil)
	_ binding.Stored   = (*engine)(nil)
	_ binding.Tallied  = (*engine)(nil)
)

func open(ctx context.Context, d bundle.Binding, db volume.Database) (*engine, error) {
	c, _ := bundle.ConfigOf[kinds.WorkflowConfig](d) // Check has read it
	e := &engine{
		name: d.Resource, class: c.ClassName, db: db, poke: make(chan struct{}, 1), drives: map[string]*drive{}, current: map[int64]*drive{},
	}
	err := db.Write(ctx, func(c *raw.Conn) error { return prepare(c, e.name, now()) })
	if err == nil {
		err = e.look(ctx)
	}
	if err == nil {
		err = e.count(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the workflow %q: %w", d.Resource, err)
	}
	return e, nil
}

func now() int64 { return time.Now().UnixMilli() }

// Close leaves the database to its owner.
func (*engine) Close() error { return nil }

// History is that of the database.
func (e *engine) History() volume.History { return e.db.History() }

// Stats counts the instances by state.
func (e *engine) Stats(ctx context.Context) (map[string]int64, error) { return e.counts(ctx) }

// Start runs what is due from now on.
func (e *engine) Start(ctx context.Context, w binding.Worker) error { //nolint:contextcheck // runs have the context of Start
	e.mu.Lock()
	defer e.mu.Unlock()
	e.worker = w
	e.ctx, e.stop = context.WithCancel(ctx)
	loop := e.ctx
	e.work.Go(func() { e.loop(loop) })
	return nil
}

// Stop begins no run. Those under way end after the steps that are under way.
func (e *engine) Stop() {
	e.mu.Lock()
	e.worker = nil
	stop := e.stop
	for _, d := range e.current {
		d.askToStop()
	}
	e.mu.Unlock()
	e.wakeUp() // the loop
	e.work.Wait()
	stop()
}

// serving returns the worker; nil while no run may begin.
func (e *engine) serving() binding.Worker {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.worker
}

// NextWake says when the next instance is due. Only the loop keeps that in memory.
func (e *engine) NextWake() (time.Time, bool) {
	if e.serving() == nil {
		ctx, cancel := context.WithTimeout(context.Background(), binding.AdminTime) //nolint:forbidigo // NextWake gets none
		defer cancel()
		_ = e.look(ctx) // a database that is closed has no work
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return time.UnixMilli(e.next).UTC(), e.next != 0
}

// Pending counts the instances that run or are due.
func (e *engine) Pending() (n int) {
	e.mu.Lock()
	n = len(e.current)
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), binding.AdminTime) //nolint:forbidigo // Pending gets none
	defer cancel()
	_ = e.db.Read(ctx, func(c *raw.Conn) error { // a database that is closed has no work for anybody
		return c.Query(`SELECT count(*) FROM instance WHERE workflow = ?1 AND wake <= ?2`, []any{e.name, now()}, func(s *raw.Stmt) error {
			n += int(s.Int64(0))
			return nil
		})
	})
	return n
}

// Waiting counts the instances that have not ended.
func (e *engine) Waiting() (w svc.Waiting) {
	ctx, cancel := context.WithTimeout(context.Background(), binding.AdminTime) //nolint:forbidigo // Waiting gets none
	defer cancel()
	counts, _ := e.counts(ctx) // a database that is closed has no work
	for state, n := range counts {
		if !isFinal(state) {
			w.Instances += int(n)
		}
	}
	return w
}

// look reads when the next instance is due.
func (e *engine) look(ctx context.Context) error {
	var next int64
	err := e.db.Read(ctx, func(c *raw.Conn) error {
		return c.Query(`SELECT min(wake) FROM instance WHERE workflow = ?1 AND wake IS NOT NULL`, []any{e.name}, func(s *raw.Stmt) error {
			next = s.Int64(0)
			return nil
		})
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next = next
	return err
}

// Tally is counted by the loop when it was asked for, if something has changed.
func (e *engine) Tally() map[string]int64 {
	e.mu.Lock()
	ask := e.stale && !e.asked
	e.asked = e.asked || ask
	tally := e.tally
	e.mu.Unlock()
	if ask {
		e.wakeUp()
	}
	return tally
}

// count counts the instances for Tally. What changes from now on makes it stale.
func (e *engine) count(ctx context.Context) error {
	e.mu.Lock()
	e.stale, e.asked = false, false
	e.mu.Unlock()
	tally, err := e.counts(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.stale = true
		return err
	}
	e.tally = tally
	return nil
}

// isAsked reports whether a new tally was asked for.
func (e *engine) isAsked() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asked
}

// changed makes the tally stale.
func (e *engine) changed() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stale = true
}

// wakeUp has the loop look for instances that are due.
func (e *engine) wakeUp() {
	select {
	case e.poke <- struct{}{}:
	default:
	}
}

// retryPause is the time until the loop tries again after an error of the database.
const retryPause = time.Second

// loop begins runs of instances that are due, until Stop.
func (e *engine) loop(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for e.serving() != nil && ctx.Err() == nil {
		select {
		case <-timer.C:
		case <-e.poke:
		case <-ctx.Done():
			return
		}
		timer.Reset(e.begin(ctx))
	}
}

// never is longer than any wait.
const never = 1 << 62

// begin begins the runs that are due and have a place. It returns how long nothing else is due.
func (e *engine) begin(ctx context.Context) time.Duration {
	err := e.look(ctx)
	if err == nil && e.isDue() {
		if err = e.claim(ctx); err == nil {
			err = e.look(ctx)
		}
	}
	if err == nil && e.isAsked() {
		err = e.count(ctx)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err != nil:
		return retryPause
	case e.next == 0 || e.runs >= maxRuns: // a run that ends wakes the loop up
		return never
	}
	return max(0, time.Until(time.UnixMilli(e.next)))
}

func (e *engine) isDue() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.worker != nil && e.next != 0 && e.next <= now() && e.runs < maxRuns
}
