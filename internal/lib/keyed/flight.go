package keyed

import (
	"context"
	"sync"
)

// Flight runs a function once for all callers that ask for the same key at the
// same time.
type Flight[K comparable] struct {
	mu    sync.Mutex
	calls map[K]*Call
}

// Call is one execution of a Flight.
type Call struct {
	cancel context.CancelCauseFunc
	done   chan struct{} // closed once err is set
	err    error
}

// Start joins the call of key that is under way, or runs fn in a new
// goroutine. The context of fn keeps the values of ctx but not its end; Cancel
// ends it. fn may call forget early: from then on callers start a new call and
// Active reports false, while fn still runs.
func (f *Flight[K]) Start(ctx context.Context, key K, fn func(ctx context.Context, forget func()) error) *Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.calls[key]; c != nil {
		return c
	}
	if f.calls == nil {
		f.calls = map[K]*Call{}
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	c := &Call{cancel: cancel, done: make(chan struct{})}
	f.calls[key] = c
	forget := func() { f.forget(key, c) }
	go func() {
		defer close(c.done)
		defer cancel(nil)
		defer forget()
		c.err = fn(ctx, forget)
	}()
	return c
}

// Active reports whether a call of key is under way that Start would join.
func (f *Flight[K]) Active(key K) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[key] != nil
}

// Cancel ends the context of the call of key with cause and waits for the end
// of the call. Without a call it does nothing. When ctx ends first, it returns
// the cause.
func (f *Flight[K]) Cancel(ctx context.Context, key K, cause error) error {
	f.mu.Lock()
	c := f.calls[key]
	f.mu.Unlock()
	if c == nil {
		return nil
	}
	c.cancel(cause)
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (f *Flight[K]) forget(key K, c *Call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls[key] == c {
		delete(f.calls, key)
	}
}

// Done is closed when the call has ended.
func (c *Call) Done() <-chan struct{} { return c.done }

// Err is the result of a call that has ended.
func (c *Call) Err() error { return c.err }
