package checkup

import (
	"cmp"
	"context"

	"github.com/svcctl/svcctl/internal/svc"
)

// Workerd checks that the workerd at path still runs and is the version of this release;
// find is what looks for it at a start.
func Workerd(path, release string, find func(context.Context) (string, error)) Check {
	return Check{"workerd", func(ctx context.Context) svc.Finding {
		now, err := find(ctx)
		switch {
		case err != nil:
			e := svc.AsError(err)
			return svc.Found(svc.FindingFailed, "%s", e.Detail).WithAdvice("%s", cmp.Or(e.Hint, "run svcctl runtime install"))
		case now != path:
			return svc.Found(svc.FindingWarning, "the server runs %s; a restart would run %s", path, now).
				WithAdvice("restart the server, or remove one of the two")
		}
		return svc.Found(svc.FindingOK, "%s at %s", release, path)
	}}
}
