package saga

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
)

// compensate records that the last of steps failed, so that the decision to
// compensate survives a crash, and then undoes all steps.
func (s Saga[S]) compensate(ctx context.Context, j Journal, steps []Step[S], cause error, state S) error {
	failed := steps[len(steps)-1].Name
	if err := s.record(ctx, j, Entry{Step: failed, Phase: Failed, Cause: cause}); err != nil {
		return errors.Join(cause, err)
	}
	failpoint.Hit("saga/" + failed + "/failed")
	return errors.Join(cause, s.undo(ctx, j, steps, state))
}

// undo undoes steps, latest first. It stops at the first step whose Undo fails,
// unless that step is Detached. The journal has no Undone entry for such a step,
// so Resume undoes it again.
func (s Saga[S]) undo(ctx context.Context, j Journal, steps []Step[S], state S) error {
	undoCtx, cancel := s.grace(ctx)
	defer cancel()
	var left error
	for _, step := range slices.Backward(steps) {
		err := s.undoStep(undoCtx, ctx, j, step, state)
		switch {
		case err == nil:
		case step.Detached:
			left = errors.Join(left, err)
		default:
			return errors.Join(left, err)
		}
	}
	return left
}

// undoStep undoes one step within ctx and records it within recordCtx.
func (s Saga[S]) undoStep(ctx, recordCtx context.Context, j Journal, step Step[S], state S) error {
	if step.Undo != nil {
		if err := step.Undo(ctx, state); err != nil {
			return fmt.Errorf("undo %s: %w: %w", step.Name, ErrIncomplete, err)
		}
	}
	failpoint.Hit("saga/" + step.Name + "/undid")
	if err := s.record(recordCtx, j, Entry{Step: step.Name, Phase: Undone}); err != nil {
		return err
	}
	failpoint.Hit("saga/" + step.Name + "/undone")
	return nil
}
