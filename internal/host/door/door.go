package door

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// maxTime is how long an event may run, as on Cloudflare. The steps of a workflow have
// limits of their own; a run takes as long as they do.
const (
	maxTime         = 15 * time.Minute
	maxWorkflowTime = 24 * time.Hour
)

func limitOf(e svc.Event) time.Duration {
	if e.Workflow != nil {
		return maxWorkflowTime
	}
	return min(cmp.Or(e.Limit, maxTime), maxTime)
}

const (
	// settleTime is how long the last lines of an event may take to be read, on a busy
	// machine.
	settleTime = 10 * time.Second
	// askTime is how long a worker may take to print the mark of an event that was ended: it
	// may run in a loop.
	askTime = 3 * time.Second
)

// Door sends events to the worker of one workerd process.
type Door struct {
	socket string          // path of the shim's
	exited <-chan struct{} // closed once workerd is gone and its output read
	client *http.Client
	secret string // what marks begin with: no worker can print it

	inside atomic.Int64 // how many events run

	mu     sync.Mutex // guards what follows
	events map[string]*recording
	last   int
	shut   bool
	empty  sync.Cond // of inside
}

// New makes the door of the workerd whose shim listens at socket. exited is closed
// once that workerd is gone and its output read. New connects to nothing yet.
func New(socket string, exited <-chan struct{}) *Door {
	d := &Door{socket: socket, exited: exited, secret: rand.Text(), events: map[string]*recording{}}
	d.empty.L = &d.mu
	d.client = &http.Client{Transport: &http.Transport{DialContext: d.dial, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute}}
	return d
}

// errNoAnswer says that nothing listens at the socket.
type errNoAnswer struct{ error }

func (d *Door) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", d.socket)
	if err != nil {
		return nil, errNoAnswer{err}
	}
	return conn, nil
}

// Dispatch sends e to the worker and waits until it is over, work that the handler
// gave to waitUntil included. The event is ended when ctx ends, and at its limit.
// An error means that the worker did not see e: it is Unavailable when the worker
// does not serve, and Unprocessable, handler_missing, when it has no such handler.
func (d *Door) Dispatch(ctx context.Context, e svc.Event) (svc.EventResult, error) {
	if ctx.Err() != nil {
		return svc.EventResult{}, context.Cause(ctx)
	}
	r, err := d.enter(e)
	if err != nil {
		return svc.EventResult{}, err
	}
	defer d.leave(r)
	ctx, cancel := context.WithTimeout(ctx, limitOf(e))
	defer cancel()
	started := time.Now()
	result, err := d.call(ctx, r, &e)
	if err == nil {
		d.settle(r)
	} else if result, err = d.cut(ctx, r, err); err != nil {
		return svc.EventResult{}, err
	}
	result.Duration = time.Since(started)
	d.record(r, &result)
	if result.Outcome == svc.OutcomeException && workerd.NoHandler(result.Error.Message) {
		return svc.EventResult{}, ErrNoHandler(e)
	}
	return result, nil
}

// ErrNoHandler says that the worker has no handler for e.
func ErrNoHandler(e svc.Event) error {
	return svc.Errorf(svc.Unprocessable, svc.CodeHandlerMissing, "the worker has no %s handler", e.Handler()).
		WithHint("export a function %s() in the default export of its main module", e.Handler())
}

// cut says how an event ended whose answer did not come.
func (d *Door) cut(ctx context.Context, r *recording, err error) (svc.EventResult, error) {
	var notSeen errNoAnswer
	var broken shimError
	switch {
	case errors.As(err, &broken):
		return svc.EventResult{}, broken
	case errors.As(err, &notSeen) && ctx.Err() != nil:
		return svc.EventResult{}, context.Cause(ctx)
	case errors.As(err, &notSeen):
		return svc.EventResult{}, errNotServing(err)
	case ctx.Err() != nil:
		d.askForMark(ctx, r)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return failed(svc.OutcomeTimeout, "the event was ended at its deadline"), nil
		}
		return failed(svc.OutcomeCanceled, "the event was canceled"), nil
	}
	d.settle(r)
	if d.isShut() {
		return failed(svc.OutcomeCanceled, "the version stopped before the event ended"), nil
	}
	return failed(svc.OutcomeExited, "the worker's process ended while the event ran"), nil
}

func failed(o svc.Outcome, message string) svc.EventResult {
	return svc.EventResult{Outcome: o, Error: &svc.EventError{Message: message}}
}

func errNotServing(cause error) error {
	return svc.Errorf(svc.Unavailable, svc.CodeNotServing, "the worker does not serve").Because(cause)
}

// settle waits until the lines of an event are read that is over.
func (d *Door) settle(r *recording) {
	t := time.NewTimer(settleTime)
	defer t.Stop()
	select {
	case <-r.ended:
	case <-d.exited:
	case <-t.C:
	}
}

// askForMark has the shim print the mark of an event that could not: it was ended.
func (d *Door) askForMark(ctx context.Context, r *recording) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	if _, err := d.call(ctx, r, nil); err == nil {
		d.settle(r)
	}
}

// Shut refuses events from now on. Those under way continue.
func (d *Door) Shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut = true
}

func (d *Door) isShut() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.shut
}

// Wait returns once no event is inside, or when ctx ends.
func (d *Door) Wait(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer context.AfterFunc(ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.empty.Broadcast()
	})()
	for len(d.events) > 0 && ctx.Err() == nil {
		d.empty.Wait()
	}
}

func (d *Door) enter(e svc.Event) (*recording, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut {
		return nil, svc.Errorf(svc.Unavailable, svc.CodeRuntimeStopping, "the version's runtime is being stopped")
	}
	d.last++
	r := newRecording(d.secret, d.last, e)
	d.events[r.mark] = r
	d.inside.Add(1)
	return r, nil
}

func (d *Door) leave(r *recording) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.events, r.mark)
	d.inside.Add(-1)
	if len(d.events) == 0 {
		d.empty.Broadcast()
	}
}
