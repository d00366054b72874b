package supervisor

import (
	"context"
	"errors"
	"io/fs"
	"os"
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

// archive is Supervisor.Archive. Unless the version runs, it takes the unit out of
// use: a unit of its own runs the version next.
func (u *unit) archive(ctx context.Context, spec Spec, then func() error) (took bool, err error) {
	if u.proc.alive() || u.keeper.alive() {
		return false, svc.Errorf(svc.Conflict, "runtime_open", "version %s still runs", u.ref)
	}
	u.gone = true
	if _, err := os.Lstat(spec.DataDir); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err := u.archiveData(ctx, spec); err != nil {
		return true, err
	}
	return true, then()
}

// archiveData has a host do it.
func (u *unit) archiveData(ctx context.Context, spec Spec) error {
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
