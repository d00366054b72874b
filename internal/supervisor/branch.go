package supervisor

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// cutRetry is how often a runtime that is being restarted is asked again.
const cutRetry = 50 * time.Millisecond

// cut asks the host that runs now, or the next one while it is being restarted.
func (u *unit) cut(ctx context.Context) (control.Cut, error) {
	for {
		cut, err := u.cutNow(ctx)
		if !errors.Is(err, control.ErrClosed) {
			return cut, err
		}
		if s := u.describe().State; s == StateCrashed || s == StateStopped {
			return cut, unavailable(u.ref)
		}
		if !pause(ctx, cutRetry) {
			return cut, context.Cause(ctx)
		}
	}
}

func (u *unit) cutNow(ctx context.Context) (control.Cut, error) {
	p := u.current.Load()
	if !p.alive() {
		return control.Cut{}, control.ErrClosed
	}
	return p.client.Cut(ctx)
}

// archive is Supervisor.Archive.
func (u *unit) archive(ctx context.Context, spec Spec) error {
	if u.proc.alive() || u.keeper.alive() {
		return svc.Errorf(svc.Conflict, "runtime_open", "version %s still runs", u.ref)
	}
	u.gone = true // for whoever waits: a unit of its own runs the version
	proc, err := spawn(u.cfg, spec)
	if err != nil {
		return err
	}
	err = proc.client.Archive(ctx, proc.spec(u.cfg, spec))
	if err != nil {
		err = proc.explain(ctx, err)
	}
	proc.kill()
	<-proc.exited
	return err
}
