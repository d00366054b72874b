package binding

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Worker is the worker of a version, as kinds call it.
type Worker interface {
	// Dispatch sends the worker an event and waits until it is over; it is ended
	// when ctx ends. An error means that the worker did not see the event.
	Dispatch(ctx context.Context, e svc.Event) (svc.EventResult, error)
}

// Starter is an Instance that calls the worker while the version serves. It may be
// started and stopped several times; calls of Start and Stop do not overlap.
type Starter interface {
	Instance
	// Start begins and returns. Contexts of events come from ctx, which ends when
	// Stop takes too long.
	Start(ctx context.Context, w Worker) error
	// Stop sends no more events, and returns when those under way are over.
	Stop()
	// NextWake says when the next event is due, and false for never. It may be
	// called at any time.
	NextWake() (time.Time, bool)
	// Pending counts the events that are due or under way. It may be called at any
	// time.
	Pending() int
}

// Armed is a Starter that runs only while the daemon has armed the version.
// spec: [C10.1], [C10.2].
type Armed interface {
	Starter
	Armed()
}

// Backlogged is a Starter that delivers messages. Queues may be called at any time.
type Backlogged interface {
	Starter
	// Queues describes the queues that it uses; several may use one.
	Queues() []svc.QueueStatus
}

// Waiter is a Starter whose work may wait. Waiting may be called at any time.
type Waiter interface {
	Starter
	Waiting() svc.Waiting
}

// CallsWorker reports whether the set has a Starter.
func (s *Set) CallsWorker() bool { return len(s.starters.all) > 0 }

// Start starts the Starters: w serves from now on. After an error some of them may
// run: Close stops them.
func (s *Set) Start(ctx context.Context, w Worker) error {
	s.starters.mu.Lock()
	defer s.starters.mu.Unlock()
	s.starters.worker = w
	return s.starters.settle(ctx)
}

// Arm says whether the version is armed. An Armed Starter sends no event after it
// is disarmed; what it has under way runs to its end.
func (s *Set) Arm(ctx context.Context, armed bool) error {
	s.starters.mu.Lock()
	defer s.starters.mu.Unlock()
	s.starters.armed = armed
	return s.starters.settle(ctx)
}

// Stop stops the Starters for good. Events under way are canceled when ctx ends.
func (s *Set) Stop(ctx context.Context) { s.starters.end(ctx.Done()) }

// Wake says when the version needs to run next. After Stop, what an Armed Starter was to
// send next counts. A version that gets no events needs time only for those under way: what waits in
// its queues is not delivered, so it is neither work nor a backlog.
func (s *Set) Wake() (w svc.Wake) {
	if s.starters.isOff() {
		w.Pending = s.starters.ending()
		return w
	}
	w = w.With(s.starters.nextArmed())
	w.Pending += s.starters.held()
	for _, r := range s.starters.all {
		w.Pending += r.Pending()
		if at, ok := r.NextWake(); ok {
			w = w.With(at)
		}
		if b, ok := r.Starter.(Waiter); ok {
			w.Waiting = w.Waiting.Add(b.Waiting())
		}
		if b, ok := r.Starter.(Backlogged); ok {
			w.Queues = addQueues(w.Queues, b.Queues())
		}
	}
	return w
}

// addQueues adds those that list does not have.
func addQueues(list, more []svc.QueueStatus) []svc.QueueStatus {
	for _, q := range more {
		if !slices.ContainsFunc(list, func(o svc.QueueStatus) bool { return o.Name == q.Name }) {
			list = append(list, q)
		}
	}
	return list
}

// starters run the Starters of a Set. At first the worker does not serve, and the
// version is not armed.
type starters struct {
	all []*runner

	mu     sync.Mutex // guards what follows, and the runners
	worker Worker     // nil while it does not serve
	armed  bool
	off    bool // the version gets no events
	paused bool // none for the time of a release's hold
	frozen bool // none while the project is read-only
	closed bool
	next   time.Time // of the Armed ones that ran when closed was set
}

func (s *starters) nextArmed() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

// runner is a Starter and its state: idle, running (gate), or stopping (both).
type runner struct {
	Starter

	route   string
	gate    *gate              // of the last start; nil when idle
	cancel  context.CancelFunc // ends the events
	stopped chan struct{}      // closed once Stop has returned; nil unless stopping
}

// gate is the worker of one start of a Starter.
type gate struct {
	Worker

	closed atomic.Bool
}

// Dispatch refuses events when the gate is closed.
func (g *gate) Dispatch(ctx context.Context, e svc.Event) (svc.EventResult, error) {
	if g.closed.Load() {
		return svc.EventResult{}, svc.Errorf(svc.Unavailable, svc.CodeRuntimeStopping, "the version accepts no more events of this kind")
	}
	return g.Worker.Dispatch(ctx, e)
}

// wants reports whether r is to run.
func (s *starters) wants(r *runner) bool {
	_, asks := r.Starter.(Armed)
	return s.worker != nil && !s.closed && !s.off && !s.paused && !s.frozen && (s.armed || !asks)
}

// settle starts and stops what is not as wanted. It needs the mutex.
func (s *starters) settle(ctx context.Context) error {
	for _, r := range s.all {
		switch wants := s.wants(r); {
		case r.stopped != nil: // settles again when it has stopped
		case wants && r.gate == nil:
			if err := r.start(ctx, s.worker); err != nil {
				return err
			}
		case !wants && r.gate != nil:
			s.stop(r, func() { _ = s.settle(ctx) }) // an error comes again at the next Arm
		}
	}
	return nil
}

// start needs the mutex.
func (r *runner) start(ctx context.Context, w Worker) error {
	g := &gate{Worker: w}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if err := r.Start(run, g); err != nil {
		cancel()
		return fmt.Errorf("starting %s: %w", r.route, err)
	}
	r.gate, r.cancel = g, cancel
	return nil
}

// stop begins to stop r, and calls then once it has stopped. Both need the mutex.
func (s *starters) stop(r *runner, then func()) {
	stopped := make(chan struct{})
	r.gate.closed.Store(true)
	r.stopped = stopped
	go func() {
		r.Stop()
		s.mu.Lock()
		defer s.mu.Unlock()
		r.cancel()
		r.gate, r.stopped = nil, nil
		close(stopped)
		then()
	}()
}

// end stops all for good. Their events are canceled when late is closed.
func (s *starters) end(late <-chan struct{}) {
	for _, r := range s.stopAll() {
		select {
		case <-r.stopped:
		case <-late:
			r.cancel()
			<-r.stopped
		}
	}
}

// noteNext notes when an Armed Starter is due: it does not know after its end. It needs the
// mutex.
func (s *starters) noteNext(r *runner) {
	if _, ok := r.Starter.(Armed); !ok {
		return
	}
	if at, ok := r.NextWake(); ok {
		s.next = svc.Wake{At: s.next}.With(at).At
	}
}

// stopAll begins to stop all and gives copies of those that stop.
func (s *starters) stopAll() (stopping []runner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, r := range s.all {
		if r.gate != nil && r.stopped == nil {
			s.noteNext(r)
			s.stop(r, func() {})
		}
		if r.stopped != nil {
			stopping = append(stopping, *r)
		}
	}
	return stopping
}
