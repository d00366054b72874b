package registry

import (
	"context"

	"github.com/svcctl/svcctl/internal/svc"
)

// ofWorker rejects a version of another worker than the one whose name became the project's id, and
// gives a project without such a name that of the request.
func (c create) ofWorker(ctx context.Context, p svc.Project) error {
	name := c.n.WorkerName
	if name == "" || name == p.WorkerName {
		return nil
	}
	if p.WorkerName != "" && !c.n.WorkerRenamed {
		return svc.Errorf(svc.Conflict, svc.CodeProjectOfOther, "the project %s was made from the worker %s, and this is the worker %s: both names are one project id", p.ID, p.WorkerName, name).
			WithHint("rename one of them; if this is the same worker under a new name, deploy it once with --project %s", p.ID)
	}
	_, err := c.tx.ExecContext(ctx, `UPDATE projects SET worker_name = ? WHERE id = ?`, name, p.ID)
	return err
}
