package service

import (
	"context"
	"errors"
	"sync"
)

// ErrStopped is what Begin and Go return after Stop has begun, and the cause
// of the contexts that Stop ends.
var ErrStopped = errors.New("the service is stopped")

// Work is the work in progress of a part.
type Work struct {
	all sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	stopped bool
	working cancels // contexts of Begin and Go
	waiting cancels // contexts of Until
}

// cancels is a set of cancel functions.
type cancels map[*context.CancelCauseFunc]struct{}

// Begin counts one piece of work, until the caller calls end. own keeps the
// values of ctx but not its cancellation; Stop cancels it when Stop's own context
// ends. After Stop has begun, Begin returns ErrStopped.
func (w *Work) Begin(ctx context.Context) (own context.Context, end func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return nil, nil, ErrStopped
	}
	w.all.Add(1)
	own, cancel := w.add(context.WithoutCancel(ctx), &w.working)
	return own, func() { cancel(); w.all.Done() }, nil
}

// Go runs fn as a piece of work in a new goroutine.
func (w *Work) Go(ctx context.Context, fn func(ctx context.Context)) error {
	own, end, err := w.Begin(ctx)
	if err != nil {
		return err
	}
	go func() {
		defer end()
		fn(own)
	}()
	return nil
}

// Until derives a context from ctx for work that only waits: Stop cancels it
// immediately. The caller calls cancel when it has stopped waiting.
func (w *Work) Until(ctx context.Context) (waiting context.Context, cancel func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting, cancel = w.add(ctx, &w.waiting)
	if w.stopped {
		w.waiting.end()
	}
	return waiting, cancel
}

// Stop rejects new work and waits for the work in progress. When ctx ends first,
// Stop cancels that work, waits for its end and returns the cause. Calls after
// the first wait in the same way.
func (w *Work) Stop(ctx context.Context) error {
	w.mu.Lock()
	w.stopped = true
	w.waiting.end()
	w.mu.Unlock()
	done := make(chan struct{})
	go func() { w.all.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	w.mu.Lock()
	w.working.end()
	w.mu.Unlock()
	<-done
	return context.Cause(ctx)
}

// add derives a context from ctx and adds its cancel function to to. The caller
// holds w.mu.
func (w *Work) add(ctx context.Context, to *cancels) (own context.Context, remove func()) {
	own, cancel := context.WithCancelCause(ctx)
	if *to == nil {
		*to = cancels{}
	}
	(*to)[&cancel] = struct{}{}
	return own, func() {
		cancel(nil)
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(*to, &cancel)
	}
}

func (c cancels) end() {
	for cancel := range c {
		(*cancel)(ErrStopped)
	}
}
