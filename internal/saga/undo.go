package saga

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/svcctl/svcctl/internal/failpoint"
)

// compensate writes down that the last of steps failed, which makes the
// decision to go back survive a crash, and then undoes them all.
func (s Saga[S]) compensate(ctx context.Context, j Journal, steps []Step[S], cause error, state S) error {
	failed := steps[len(steps)-1].Name
	if err := s.record(ctx, j, Entry{Step: failed, Phase: Failed, Cause: cause}); err != nil {
		return errors.Join(cause, err)
	}
	failpoint.Hit("saga/" + failed + "/failed")
	return errors.Join(cause, s.undo(ctx, j, steps, state))
}

// undo takes steps back, latest first. It stops at the first one that it
// cannot take back: the journal does not say Undone for it, so Resume knows
// where to go on.
func (s Saga[S]) undo(ctx context.Context, j Journal, steps []Step[S], state S) error {
	undoCtx, cancel := s.grace(ctx)
	defer cancel()
	for _, step := range slices.Backward(steps) {
		if step.Undo != nil {
			if err := step.Undo(undoCtx, state); err != nil {
				return fmt.Errorf("undo %s: %w: %w", step.Name, ErrIncomplete, err)
			}
		}
		failpoint.Hit("saga/" + step.Name + "/undid")
		if err := s.record(ctx, j, Entry{Step: step.Name, Phase: Undone}); err != nil {
			return err
		}
		failpoint.Hit("saga/" + step.Name + "/undone")
	}
	return nil
}
