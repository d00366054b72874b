package promote

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/saga"
	"github.com/svcctl/svcctl/internal/svc"
)

// newSaga is the contract's five steps in their order. Journals hold the names.
// spec: Promote saga.
func newSaga(limit time.Duration) saga.Saga[*run] {
	return saga.Saga[*run]{Steps: []saga.Step[*run]{
		{Name: "validate", Do: within(limit, (*run).validate)},
		{Name: "drain", Do: within(limit, (*run).drain), Undo: within(limit, (*run).undrain)},
		{Name: "pointers", Do: within(limit, (*run).setPointer), Undo: within(limit, (*run).restorePointer)},
		{Name: "commit", Do: within(limit, (*run).commit), Undo: within(limit, (*run).uncommit)},
		{Name: "activate", Do: within(limit, (*run).activate), Undo: within(limit, (*run).deactivate)},
	}}
}

var errStepLimit = errors.New("the step took too long")

// within bounds one half of a step.
func within(limit time.Duration, f func(*run, context.Context) error) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		ctx, cancel := context.WithTimeoutCause(ctx, limit, errStepLimit)
		defer cancel()
		err := f(r, ctx)
		if err != nil && errors.Is(context.Cause(ctx), errStepLimit) {
			return svc.Errorf(svc.Unavailable, "step_timeout", "not done after %s", limit).Because(err)
		}
		return err
	}
}

// Step 1: the target is ready. It was when the client asked; a resumed run
// looks again.
func (r *run) validate(ctx context.Context) error {
	v, err := r.deps.Versions.Version(ctx, r.target())
	if err != nil {
		return err
	}
	return ready(v)
}

// Step 2: new requests wait, and the old version is draining [D20].
func (r *run) drain(ctx context.Context) error {
	r.hold()
	return r.movePrevious(ctx, svc.TriggerDrain, svc.StatusDraining)
}

func (r *run) undrain(ctx context.Context) error {
	r.release()
	return r.movePrevious(ctx, svc.TriggerUndrain, svc.StatusReady)
}

// Step 3: the pointer object in the runtime bucket names the target.
func (r *run) setPointer(ctx context.Context) error { return r.pointer().set(ctx, r.op) }

func (r *run) restorePointer(ctx context.Context) error { return r.pointer().restore(ctx, r.op) }

// Step 4: the registry's compare-and-set, which decides.
func (r *run) commit(ctx context.Context) error {
	return r.deps.Projects.SetProduction(ctx, r.op.Project, r.op.Previous, r.op.Version)
}

func (r *run) uncommit(ctx context.Context) error {
	err := r.deps.Projects.SetProduction(ctx, r.op.Project, r.op.Version, r.op.Previous)
	if errors.Is(err, svc.Precondition) {
		return nil // neither ours nor the one before: commit lost, there is nothing to take back
	}
	return err
}

// Step 5: the production host leads to the target, the requests that waited go
// there, and the old version is ready again. Its requests in flight have a
// moment until then and are never cut off; its websockets end later [D20].
func (r *run) activate(ctx context.Context) error {
	if err := r.publish(ctx, r.op.Project); err != nil {
		return err
	}
	r.release()
	if r.op.Previous == "" {
		return nil
	}
	r.deps.Websockets.CloseWebsockets(r.previous(), svc.RoleProduction, r.deps.WebsocketGrace)
	r.awaitInflight(ctx)
	return r.movePrevious(ctx, svc.TriggerUndrain, svc.StatusReady)
}

func (r *run) deactivate(context.Context) error {
	r.deps.Gateway.SetProduction(r.op.Project, r.op.Previous)
	return nil
}

func (r *run) awaitInflight(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, r.deps.DrainWait)
	defer cancel()
	if err := r.deps.Gateway.DrainProduction(ctx, r.op.Project); err != nil {
		r.log.InfoContext(ctx, "requests go on at the old version", "reason", err)
	}
}

// movePrevious moves the old version, if there is one. It is idempotent: a
// version that is where the move leads was moved before.
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
