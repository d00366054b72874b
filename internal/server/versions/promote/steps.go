package promote

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/lib/saga"
	"github.com/svcctl/svcctl/internal/svc"
)

// newSaga returns the contract's five steps in order. Journals hold their names.
// spec: [C8.5] to [C8.10].
func newSaga(limit time.Duration) saga.Saga[*run] {
	return saga.Saga[*run]{Steps: []saga.Step[*run]{
		{Name: "validate", Do: within(limit, (*run).validate)},
		{Name: "drain", Do: within(limit, (*run).drain), Undo: within(limit, (*run).undrain)},
		// Detached: the old version serves again even if the object store fails.
		{Name: "pointers", Do: within(limit, (*run).setPointer), Undo: within(min(limit, undoPointer), (*run).restorePointer), Detached: true},
		{Name: "commit", Do: within(limit, (*run).commit), Undo: within(limit, (*run).uncommit)},
		{Name: "activate", Do: within(limit, (*run).activate), Undo: within(limit, (*run).deactivate)},
	}}
}

// undoPointer bounds one attempt to restore the pointer. Draining ends after the
// first; more follow until the object store answers.
const undoPointer = 2 * time.Second

var errStepLimit = errors.New("the step exceeded its time limit")

// within bounds f, a step or its compensation.
func within(limit time.Duration, f func(*run, context.Context) error) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		ctx, cancel := context.WithTimeoutCause(ctx, limit, errStepLimit)
		defer cancel()
		err := f(r, ctx)
		if err != nil && errors.Is(context.Cause(ctx), errStepLimit) {
			return svc.Errorf(svc.Unavailable, svc.CodeStepTimeout, "the step did not finish within %s", limit).Because(err)
		}
		return err
	}
}

// validate is step 1 [C8.5]: the target is ready. Promote checks this too; the step
// repeats it for a resumed run.
func (r *run) validate(ctx context.Context) error {
	v, err := r.deps.Versions.Version(ctx, r.target())
	if err != nil {
		return err
	}
	r.aside = v.Events == svc.EventsHandedOver
	if err := ready(v); err != nil || r.deps.RefreshSecrets == nil {
		return err
	}
	return r.deps.RefreshSecrets(ctx, v.Ref) // a preview gets the secrets of releases before the drain
}

// drain is step 2 [C8.6]: new requests wait, and the old version is draining [D20]. Before that no
// machine answers for the production host any more without asking the server.
func (r *run) drain(ctx context.Context) error {
	if err := r.deps.Gateway.SettleProduction(ctx, r.op.Project); err != nil {
		return err
	}
	r.hold()
	return r.movePrevious(ctx, svc.TriggerDrain, svc.StatusDraining)
}

func (r *run) undrain(ctx context.Context) error {
	r.release()
	r.deps.Gateway.Share(r.op.Project)
	return r.movePrevious(ctx, svc.TriggerUndrain, svc.StatusReady)
}

// setPointer is step 3 [C8.7]: the pointer object in the runtime bucket names the
// target. A short outage of the object store does not undo a promotion: requests wait for HoldLimit
// at most meanwhile, and reach the old version after it.
func (r *run) setPointer(ctx context.Context) error {
	return r.untilWritten(ctx, r.log, func() error { return r.pointer().set(ctx, r.op) })
}

func (r *run) restorePointer(ctx context.Context) error { return r.pointer().restore(ctx, r.op) }

// commit is step 4 [C8.8]: the registry's compare-and-set, which decides. A server that continues
// the promotion of another one has not drained: it waits for machines here.
func (r *run) commit(ctx context.Context) error {
	if err := r.deps.Gateway.SettleProduction(ctx, r.op.Project); err != nil {
		return err
	}
	return r.deps.Projects.SetProduction(ctx, r.op.Project, r.op.Previous, r.op.Version)
}

func (r *run) uncommit(ctx context.Context) error {
	err := r.deps.Projects.SetProduction(ctx, r.op.Project, r.op.Version, r.op.Previous)
	if errors.Is(err, svc.Precondition) {
		return nil // production is a third version: commit failed, nothing to undo
	}
	return err
}

// activate is step 5 [C8.9]: the production host name routes to the target, waiting
// requests are sent there, and after DrainWait the old version is ready again. Its
// requests in flight are never cut off; its websockets are closed later [D20].
func (r *run) activate(ctx context.Context) error {
	if err := r.publish(ctx, r.op.Project); err != nil {
		return err
	}
	r.release()
	r.deps.Gateway.Share(r.op.Project)
	if r.op.Previous == "" {
		return nil
	}
	r.deps.Websockets.CloseWebsockets(r.previous(), svc.RoleProduction, r.deps.WebsocketGrace)
	r.awaitInflight(ctx)
	return r.movePrevious(ctx, svc.TriggerUndrain, svc.StatusReady)
}

func (r *run) deactivate(ctx context.Context) error {
	r.deps.Gateway.Unshare(r.op.Project)
	if err := r.deps.Gateway.SettleProduction(ctx, r.op.Project); err != nil {
		return err
	}
	r.deps.Gateway.SetProduction(r.op.Project, r.op.Previous)
	return nil
}

func (r *run) awaitInflight(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, r.deps.DrainWait)
	defer cancel()
	if err := r.deps.Gateway.DrainProduction(ctx, r.op.Project); err != nil {
		r.log.InfoContext(ctx, "requests in flight continue at the old version", "reason", err)
	}
}

// movePrevious moves the old version, if any, to the status want. Idempotent.
func (r *run) movePrevious(ctx context.Context, t svc.Trigger, want svc.Status) error {
	if r.op.Previous == "" {
		return nil
	}
	return r.move(ctx, r.previous(), t, want)
}

func (s *Service) move(ctx context.Context, ref svc.Ref, t svc.Trigger, want svc.Status) error {
	_, err := s.deps.Versions.Move(ctx, ref, t, svc.Change{})
	if errors.Is(err, svc.Conflict) {
		v, readErr := s.deps.Versions.Version(ctx, ref)
		if readErr != nil || v.Status != want {
			return errors.Join(err, readErr)
		}
		err = nil
	}
	if err == nil {
		s.deps.Routes.StatusChanged(ref, want)
	}
	return err
}
