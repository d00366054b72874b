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

// The interval at which a cut is retried while the runtime restarts, and the longest
// wait for a restart.
const (
	cutRetry = 50 * time.Millisecond
	cutWait  = time.Second
)

// cut returns a cut from the worker host that runs, or from the next one if the
// runtime restarts.
func (u *unit) cut(ctx context.Context) (branch.VersionCut, error) {
	for {
		cut, err := u.cutNow(ctx)
		if !errors.Is(err, control.ErrClosed) {
			return cut, err
		}
		switch now := u.describe(); {
		case now.State == svc.RuntimeCrashed || now.State == svc.RuntimeStopped || now.State == svc.RuntimeAsleep:
			return cut, unavailable(now)
		case now.State == svc.RuntimeBackoff && time.Until(now.RetryAt) > cutWait:
			return cut, restarting(now)
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
	return p.Client().Cut(ctx)
}

// archive is Supervisor.Archive. A unit without a watchdog is stopped (took): the next
// Open creates another. A watchdog cannot start the runtime before archive returns.
func (u *unit) archive(ctx context.Context, spec svc.RuntimeSpec, after func() error) (took bool, err error) {
	if u.proc.alive() {
		return false, svc.Errorf(svc.Conflict, svc.CodeRuntimeOpen, "version %s still runs", u.ref)
	}
	took = u.watchdog == nil
	u.stopped = took
	if _, err := os.Lstat(spec.Local.DataDir); errors.Is(err, fs.ErrNotExist) {
		return took, nil
	}
	if err := u.archiveData(ctx, spec); err != nil {
		return took, err
	}
	return took, after()
}

// archiveData archives the data with a worker host.
func (u *unit) archiveData(ctx context.Context, spec svc.RuntimeSpec) error {
	proc, _, err := u.take(ctx, spec, true)
	if err != nil {
		return err
	}
	err = proc.Client().Archive(ctx, proc.spec(u.cfg, spec))
	if err != nil {
		err = proc.explain(ctx, err)
	}
	proc.Kill()
	<-proc.Exited()
	return err
}
