package supervisor

import (
	"context"

	"github.com/svcctl/svcctl/internal/svc"
)

// ShowFiles has the worker of a version read the static files of the bundle in a
// directory, also after a restart of its runtime. A version without a runtime is left
// alone: the next Open names the directory.
func (s *Supervisor) ShowFiles(ctx context.Context, ref svc.Ref, dir string) error {
	u, err := s.unit(ref, false)
	if err != nil {
		return nil //nolint:nilerr // nothing runs
	}
	return u.exclusively(ctx, func(ctx context.Context) error {
		u.spec.Local.FilesDir = dir
		if !u.proc.alive() {
			return nil
		}
		return u.proc.Client().ShowFiles(ctx, dir)
	})
}
