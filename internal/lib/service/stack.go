package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Stack holds the parts of a program that have started.
type Stack struct{ parts []part }

type part struct {
	name string
	stop func(context.Context) error
}

// Push adds a part that has started.
func (s *Stack) Push(name string, stop func(context.Context) error) {
	s.parts = append(s.parts, part{name, stop})
}

// Go runs fn in a new goroutine. Stop cancels the context of fn, which keeps the
// values of ctx but not its cancellation, and waits for fn to return.
func (s *Stack) Go(ctx context.Context, name string, fn func(ctx context.Context)) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn(ctx)
	}()
	s.Push(name, func(context.Context) error {
		cancel(ErrStopped)
		<-done
		return nil
	})
}

// Stop stops every part, the latest first, and joins their errors. The stack
// is empty afterwards.
func (s *Stack) Stop(ctx context.Context) error {
	var errs []error
	for _, p := range slices.Backward(s.parts) {
		if err := p.stop(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", p.name, err))
		}
	}
	s.parts = nil
	return errors.Join(errs...)
}
