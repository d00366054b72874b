package supervisor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

// cutRetry is the interval at which a cut is retried while the runtime restarts.
const cutRetry = 50 * time.Millisecond

// cut returns a cut from the worker host that runs, or from the next one if the
// runtime restarts.
func (u *unit) cut(ctx context.Context) (branch.VersionCut, error) {
	for {
		cut, err := u.cutNow(ctx)
		if !errors.Is(err, control.ErrClosed) {
			return cut, err
		}
		if s := u.describe().State; s == svc.RuntimeCrashed || s == svc.RuntimeStopped {
			return cut, unavailable(u.ref)
		}
		if backoff.Sleep(ctx, cutRetry) != nil {
			return cut, context.Cause(ctx)
		}
	}
}

func (u *unit) cutNow(ctx context.Context) (branch.VersionCut, error) {
	p := u.current.Load()
	if !p.alive() {
		return branch.VersionCut{}, control.ErrClosed
	}
	return p.client.Cut(ctx)
}

// archive is Supervisor.Archive. Unless the version runs, it stops the unit (took):
// the next Open creates another.
func (u *unit) archive(ctx context.Context, spec svc.RuntimeSpec, after func() error) (took bool, err error) {
	if u.proc.alive() || u.watchdog.alive() {
		return false, svc.Errorf(svc.Conflict, svc.CodeRuntimeOpen, "version %s still runs", u.ref)
	}
	u.stopped = true
	if _, err := os.Lstat(spec.Local.DataDir); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err := u.archiveData(ctx, spec); err != nil {
		return true, err
	}
	return true, after()
}

// archiveData archives the data with a worker host.
func (u *unit) archiveData(ctx context.Context, spec svc.RuntimeSpec) error {
	proc, err := spawn(ctx, u.cfg, spec)
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
