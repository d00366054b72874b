package saga

import (
	"context"
	"errors"
	"fmt"
)

// errInterrupted is the cause of a compensation whose journal kept none.
var errInterrupted = errors.New("an earlier step failed")

// progress is a journal read back: the last phase of each step.
type progress struct {
	last   map[string]Phase
	failed bool  // compensation has begun
	cause  error // why; nil when the journal did not keep it
}

func read(entries []Entry) progress {
	p := progress{last: map[string]Phase{}}
	for _, e := range entries {
		p.last[e.Step] = e.Phase
		if e.Phase == Failed || e.Phase == Undone {
			p.failed = true
		}
		if e.Phase == Failed && e.Cause != nil {
			p.cause = e.Cause
		}
	}
	return p
}

// Resume ends a run that a crash, or a Run that returned ErrIncomplete, left
// unfinished. It goes forward from the last finished step [D21] and compensates
// like Run when a step fails. If compensation had begun, Resume continues it and
// returns the cause. On an empty journal it is Run. Resuming a run that had ended
// changes nothing and returns its outcome.
func (s Saga[S]) Resume(ctx context.Context, j Journal, state S) error {
	entries, err := j.Steps(ctx)
	if err != nil {
		return fmt.Errorf("read journal: %w: %w", ErrIncomplete, err)
	}
	if err := s.check(entries); err != nil {
		return err
	}
	p := read(entries)
	if !p.failed {
		return s.forward(ctx, j, p, state)
	}
	cause := p.cause
	if cause == nil {
		cause = errInterrupted
	}
	return errors.Join(cause, s.undo(ctx, j, s.unfinished(p), state))
}

// check rejects a journal of another saga, such as one that a newer program
// began: guessing what its steps did could lose the production route.
func (s Saga[S]) check(entries []Entry) error {
	known := map[string]bool{}
	for _, step := range s.Steps {
		known[step.Name] = true
	}
	for _, e := range entries {
		if !known[e.Step] {
			return fmt.Errorf("the journal names a step %q that this program does not have: %w", e.Step, ErrIncomplete)
		}
	}
	return nil
}

// unfinished lists the steps that began and are not undone yet, in order.
func (s Saga[S]) unfinished(p progress) []Step[S] {
	var steps []Step[S]
	for _, step := range s.Steps {
		if phase, began := p.last[step.Name]; began && phase != Undone {
			steps = append(steps, step)
		}
	}
	return steps
}
