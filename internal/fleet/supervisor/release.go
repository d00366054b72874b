package supervisor

import (
	"context"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// Stage gives a version a worker host that has all of it but the data, which Open gives with the
// same spec, but for Parent and Local.Warm. Error: Conflict, runtime_open, if the version runs.
func (s *Supervisor) Stage(ctx context.Context, spec svc.RuntimeSpec) error {
	if err := s.clean(); err != nil {
		return err
	}
	u, err := s.unit(spec.Ref, true)
	if err != nil {
		return err
	}
	return notOpen(spec.Ref, u.exclusively(ctx, func(ctx context.Context) error { return u.stage(ctx, spec) }))
}

// stage is Supervisor.Stage.
func (u *unit) stage(ctx context.Context, spec svc.RuntimeSpec) error {
	if u.watchdog != nil || u.proc.alive() || u.staged.alive() {
		return svc.Errorf(svc.Conflict, svc.CodeRuntimeOpen, "version %s runs already", u.ref)
	}
	u.spec = spec
	u.starting()
	p, _, err := u.begin(ctx, u.stageIn)
	if err != nil {
		u.set(svc.RuntimeCrashed, svc.Endpoint{}, err)
		if p != nil {
			err = p.explain(ctx, err)
		}
		return err
	}
	u.staged = p
	return nil
}

func (u *unit) stageIn(ctx context.Context, p *process) error {
	return u.orEnd(ctx, p, func() error {
		if err := p.listen(ctx, u.cfg, u.spec); err != nil {
			return err
		}
		return p.Client().Stage(ctx, p.spec(u.cfg, u.spec))
	})
}

// launchStaged is launch with the worker host that waits for the data, if one does.
func (u *unit) launchStaged(ctx context.Context) (*process, error) {
	p := u.staged
	u.staged = nil
	if !p.alive() {
		return u.launch(ctx)
	}
	err := u.orEnd(ctx, p, func() error { return u.openData(ctx, p) })
	return u.launchedBy(ctx, p, true, err)
}

// Seal does one step of a release in the worker host of a version that serves. From
// control.SealSealed until a later state no other worker host of the version is started: it would
// accept writes.
func (s *Supervisor) Seal(ctx context.Context, ref svc.Ref, seal control.Seal) (done control.Sealing, err error) {
	u := s.known(ref)
	if u == nil {
		return done, unavailable(svc.Runtime{Ref: ref})
	}
	switch seal.State {
	case control.SealSealed:
		u.setSealed()
	case control.SealReleased, control.SealUndone:
		defer u.unseal()
	case control.SealAhead, control.SealPaused:
	}
	p, err := s.serving(ref)
	if err == nil {
		done, err = p.Client().Seal(ctx, seal)
	}
	if err != nil && seal.State == control.SealSealed {
		u.unseal()
	}
	return done, err
}

// Positions returns where the data of an open version begins.
func (s *Supervisor) Positions(ctx context.Context, ref svc.Ref) (control.Positions, error) {
	u, err := s.unit(ref, false)
	if err != nil {
		return nil, err
	}
	p := u.current.Load()
	if !p.alive() {
		return nil, unavailable(u.describe())
	}
	return p.Client().Positions(ctx)
}

func (u *unit) setSealed() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.unsealed == nil {
		u.unsealed = make(chan struct{})
	}
}

func (u *unit) unseal() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.unsealed != nil {
		close(u.unsealed)
		u.unsealed = nil
	}
}

// awaitUnsealed returns when no release has the data sealed; false if ctx ends first.
func (u *unit) awaitUnsealed(ctx context.Context) bool {
	for {
		u.mu.Lock()
		unsealed := u.unsealed
		u.mu.Unlock()
		if unsealed == nil {
			return true
		}
		select {
		case <-unsealed:
		case <-ctx.Done():
			return false
		}
	}
}
