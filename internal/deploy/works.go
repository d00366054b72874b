package deploy

import (
	"context"
	"errors"
	"sync"

	"github.com/svcctl/svcctl/internal/svc"
)

// errHalted is the cause of the end of a work that Stop ended.
var errHalted = errors.New("the work on the version was ended")

// works knows who is at work on a version, a deploy or a start: one at a time.
type works struct {
	mu sync.Mutex
	m  map[svc.Ref]*work
}

type work struct {
	cancel context.CancelCauseFunc
	done   chan struct{}
}

func newWorks() *works { return &works{m: map[svc.Ref]*work{}} }

// begin waits until nobody is at work on ref and returns a context that halt
// ends. The caller calls end when it has stopped working.
func (w *works) begin(ctx context.Context, ref svc.Ref) (own context.Context, end func(), err error) {
	for {
		w.mu.Lock()
		before := w.m[ref]
		if before == nil {
			break
		}
		w.mu.Unlock()
		if err := before.wait(ctx); err != nil {
			return nil, nil, err
		}
	}
	defer w.mu.Unlock()
	own, cancel := context.WithCancelCause(ctx)
	mine := &work{cancel: cancel, done: make(chan struct{})}
	w.m[ref] = mine
	return own, func() {
		cancel(nil)
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.m, ref)
		close(mine.done)
	}, nil
}

// halt ends the work on ref and waits for its end. What begins later goes on.
func (w *works) halt(ctx context.Context, ref svc.Ref) error {
	w.mu.Lock()
	current := w.m[ref]
	w.mu.Unlock()
	if current == nil {
		return nil
	}
	current.cancel(errHalted)
	return current.wait(ctx)
}

func (k *work) wait(ctx context.Context) error {
	select {
	case <-k.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
