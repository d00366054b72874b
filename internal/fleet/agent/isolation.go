package agent

import (
	"context"
	"fmt"
	"os"

	"github.com/svcctl/svcctl/internal/fleet/process"
	"github.com/svcctl/svcctl/internal/host/isolate"
	"github.com/svcctl/svcctl/internal/svc"
)

// processFor says how a worker host starts whose daemon asks for isolation. It returns an error where this
// machine cannot isolate: the version must not run with less.
func (a *Agent) processFor(ctx context.Context, from svc.Isolation) (process.Config, error) {
	c := a.cfg.Process
	if !from.On() {
		return c, nil
	}
	a.isolating.Lock()
	defer a.isolating.Unlock()
	if a.passable == "" {
		if err := a.isolate(ctx, from); err != nil {
			return c, a.cannot(err)
		}
	}
	c.RunDir, c.Host.Isolation = a.passable, from
	return c, nil
}

// isolate looks whether this machine can, once.
func (a *Agent) isolate(ctx context.Context, from svc.Isolation) error {
	err := isolate.Try(ctx, isolate.Base, from, a.cfg.Process.Workerd)
	if err == nil {
		err = isolate.Sweep(isolate.Base, from)
	}
	if err == nil {
		err = os.Chmod(a.cfg.Dir, 0o700) //nolint:gosec // a directory; it is closed to the uids
	}
	if err == nil {
		a.passable, a.removing, err = isolate.MakeDir(isolate.Base)
	}
	return err
}

// cannot is the error for the daemon, with the name of this machine.
func (a *Agent) cannot(cause error) error {
	e := svc.AsError(cause)
	a.cfg.Logger.Error("cannot isolate workerd as the server asks; versions do not start here", "error", cause, "hint", e.Hint)
	out := svc.Errorf(svc.Unavailable, svc.CodeIsolation, "the machine %s: %s", a.cfg.Name, e.Detail).Because(cause)
	if e.Hint == "" {
		return out
	}
	return out.WithHint("%s", fmt.Sprintf("on that machine: %s", e.Hint))
}

// removePassable removes the directory of sockets.
func (a *Agent) removePassable() {
	a.isolating.Lock()
	defer a.isolating.Unlock()
	if a.removing == nil {
		return
	}
	if err := a.removing(); err != nil {
		a.cfg.Logger.Warn("cannot remove the directory of sockets", "error", err)
	}
}
