package dataplane

import (
	"context"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
)

// While a write such as an import takes long, a cut repeatedly holds new writers for gateHold,
// and fails after gateLimit.
const (
	gateHold  = 250 * time.Millisecond
	gatePause = time.Second
	gateLimit = 30 * time.Second // less than the time limit of a fork
)

// gate admits any number of writers, or one cut, or, for good, no more writers. Safe for concurrent use.
type gate struct {
	turn chan struct{} // holds a token while a cut waits or has the gate

	mu       sync.Mutex // guards the fields below
	writers  int
	shut     chan struct{} // closed when writers are admitted again; nil while they are
	empty    chan struct{} // closed when the last writer has left; nil while no cut waits for that
	refuse   error         // what enter returns; nil while the version may be written
	refused  int           // calls of enter that returned refuse
	readOnly error         // what enter returns to writers for the worker; nil while it may write
}

func newGate() *gate { return &gate{turn: make(chan struct{}, 1)} }

// enter admits a writer, which calls leave at its end.
func (g *gate) enter(ctx context.Context) error {
	for {
		shut, err := g.tryEnter(ctx)
		if shut == nil {
			return err
		}
		select {
		case <-shut:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tryEnter admits a writer, or returns an error, or what is closed when it is to be called again.
func (g *gate) tryEnter(ctx context.Context) (shut <-chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.refuse != nil:
		g.refused++
		return nil, g.refuse
	case g.readOnly != nil && volume.IsByWorker(ctx):
		return nil, g.readOnly
	case g.shut == nil:
		g.writers++
		return nil, nil
	}
	return g.shut, nil
}

// setRefuse has enter return err, also to writers that wait; nil admits them.
func (g *gate) setRefuse(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refuse = err
}

// setReadOnly has enter return err to writers for the worker, also to those that wait; nil admits
// them. It does not change what setRefuse set.
func (g *gate) setReadOnly(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.readOnly = err
}

// mayWrite returns the error of a write of ctx while the project is read-only.
func (g *gate) mayWrite(ctx context.Context) error {
	if !volume.IsByWorker(ctx) {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.readOnly
}

// refusals returns how many writers were refused.
func (g *gate) refusals() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refused
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.writers--; g.writers == 0 && g.empty != nil {
		close(g.empty)
		g.empty = nil
	}
}

// acquire waits until no writer is in and holds new ones until release is called. It fails with
// parent_busy after gateLimit.
func (g *gate) acquire(ctx context.Context) (release func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, gateLimit, svc.Errorf(svc.Unavailable, svc.CodeParentBusy,
		"a write to the parent's data has run for longer than %v, so the data cannot be forked", gateLimit).
		WithHint("wait for the import or the query to end, and deploy again"))
	defer cancel()
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	for !g.close(ctx, gateHold) {
		g.open()
		select {
		case <-time.After(gatePause):
		case <-ctx.Done():
			<-g.turn
			return nil, context.Cause(ctx)
		}
	}
	return func() { g.open(); <-g.turn }, nil
}

// try is acquire with one attempt, which holds new writers for at most hold.
func (g *gate) try(ctx context.Context, hold time.Duration) (release func(), ok bool) {
	select {
	case g.turn <- struct{}{}:
	default:
		return nil, false
	}
	ok = g.close(ctx, hold)
	release = func() { g.open(); <-g.turn }
	if !ok {
		release()
	}
	return release, ok
}

// close holds new writers and reports whether the others have left within hold.
func (g *gate) close(ctx context.Context, hold time.Duration) bool {
	g.mu.Lock()
	g.shut = make(chan struct{})
	if g.writers == 0 {
		g.mu.Unlock()
		return true
	}
	empty := make(chan struct{})
	g.empty = empty
	g.mu.Unlock()
	select {
	case <-empty:
		return true
	case <-time.After(hold):
	case <-ctx.Done():
	}
	return false
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.shut)
	g.shut, g.empty = nil, nil
}
