package hostmain

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// readOnlyDrain is the time in which events that are under way may end before their writes fail.
const readOnlyDrain = 2 * time.Second

// SetReadOnly implements workerhost.Resources. Events stop before the writes of the worker fail, and
// begin after they are admitted.
func (r resources) SetReadOnly(ctx context.Context, on bool) error {
	if !on {
		r.volumes.SetReadOnly(nil)
		return r.Set.SetReadOnly(ctx, false)
	}
	waiting, cancel := context.WithTimeout(ctx, readOnlyDrain)
	defer cancel()
	err := r.Set.SetReadOnly(waiting, true)
	r.volumes.SetReadOnly(errReadOnly())
	return err
}

// errReadOnly is the error of a write of the worker. It has the code in its text, which is all that
// a worker sees of an error.
func errReadOnly() error {
	return svc.Errorf(svc.Unavailable, svc.CodeProjectReadOnly, "%s: the project is read-only, so the write was not done", svc.CodeProjectReadOnly)
}
