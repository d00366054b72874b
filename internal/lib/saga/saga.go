package saga

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
)

// ErrIncomplete marks a run that is neither done nor undone: the journal could
// not be written, or a step could not be undone. Call Resume to continue.
var ErrIncomplete = errors.New("the run is neither done nor undone")

// DefaultGrace is the time limit for compensation when Saga.Grace is 0.
const DefaultGrace = 30 * time.Second

// Step is a change (Do) and its compensation (Undo). Both functions must be
// idempotent, and Undo must accept that Do never took effect.
type Step[S any] struct {
	Name string // unique in its saga and never renamed: journals hold it
	Do   func(context.Context, S) error
	Undo func(context.Context, S) error // nil when there is nothing to undo

	// Detached lets the earlier steps be undone although this one's Undo failed.
	// The run is then ErrIncomplete, and Resume undoes what is left.
	Detached bool
}

// Saga is an ordered list of steps over a state S. The caller owns the state;
// every step receives it.
type Saga[S any] struct {
	Steps []Step[S]
	Grace time.Duration // limit for compensation, which outlives the caller's context; 0 = DefaultGrace
}

// Run does every step in order on an empty journal. When one fails, or ctx
// ends, it undoes that step and the ones before it, latest first, and returns
// what failed. The error is ErrIncomplete too when compensation did not finish.
func (s Saga[S]) Run(ctx context.Context, j Journal, state S) error {
	return s.forward(ctx, j, progress{}, state)
}

// forward does the steps that p does not call done.
func (s Saga[S]) forward(ctx context.Context, j Journal, p progress, state S) error {
	for i, step := range s.Steps {
		if p.last[step.Name] == Done {
			continue
		}
		err := s.do(ctx, j, step, state)
		if err == nil {
			continue
		}
		if errors.Is(err, ErrIncomplete) {
			return err
		}
		return s.compensate(ctx, j, s.Steps[:i+1], err, state)
	}
	return nil
}

// do runs one step. An error that is ErrIncomplete came from the journal, which
// then does not have the outcome of the step.
func (s Saga[S]) do(ctx context.Context, j Journal, step Step[S], state S) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", step.Name, err)
	}
	if err := s.record(ctx, j, Entry{Step: step.Name, Phase: Started}); err != nil {
		return err
	}
	failpoint.Hit("saga/" + step.Name + "/started")
	if err := step.Do(ctx, state); err != nil {
		return fmt.Errorf("%s: %w", step.Name, err)
	}
	failpoint.Hit("saga/" + step.Name + "/did")
	if err := s.record(ctx, j, Entry{Step: step.Name, Phase: Done}); err != nil {
		return err
	}
	failpoint.Hit("saga/" + step.Name + "/done")
	return nil
}

// record writes e even when ctx has ended: a later Resume needs the entry.
func (s Saga[S]) record(ctx context.Context, j Journal, e Entry) error {
	ctx, cancel := s.grace(ctx)
	defer cancel()
	if err := j.Record(ctx, e); err != nil {
		return fmt.Errorf("journal %s %s: %w: %w", e.Step, e.Phase, ErrIncomplete, err)
	}
	return nil
}

func (s Saga[S]) grace(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(s.Grace, DefaultGrace))
}
