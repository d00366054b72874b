package registry

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// DeleteProject marks a project as deleted and takes its production away, and returns
// the record as it was. Reads no longer find the project, so that it takes no versions;
// those that it has stay until they are destroyed. production is the production version,
// "" for none.
//
// Errors: NotFound, project_not_found; Precondition, production_moved; Conflict,
// promote_in_progress.
func (db *DB) DeleteProject(ctx context.Context, id, production string) (p svc.Project, err error) {
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		if p, err = project(ctx, tx, id); err != nil {
			return err
		}
		if p.ProdVersionID != production {
			return svc.Errorf(svc.Precondition, svc.CodeProductionMoved, "the production of project %s is %q, not %q", id, p.ProdVersionID, production).
				WithHint("name the production version to confirm that it is destroyed")
		}
		running := false
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM promotions WHERE project_id = ? AND status = 'running')`, id).Scan(&running); err != nil {
			return err
		}
		if running {
			return svc.Errorf(svc.Conflict, svc.CodePromoteInProgress, "a promotion of project %s is under way", id).WithHint("wait until it has ended")
		}
		_, err := tx.ExecContext(ctx, `UPDATE projects SET deleted_at = ?1, prod_version_id = NULL, preview_parent = '', guard = 0, read_only = 0, worker_name = '', updated_at = max(?1, updated_at + 1)
			WHERE id = ?2`, millis(time.Now()), id)
		if err != nil {
			return err
		}
		for _, belongings := range []string{
			`DELETE FROM preview_env WHERE project_id = ?`, `DELETE FROM domains WHERE project_id = ?`, `DELETE FROM secrets WHERE project_id = ?`,
		} {
			if _, err := tx.ExecContext(ctx, belongings, id); err != nil {
				return err
			}
		}
		return removeWebhooks(ctx, tx, `project_id = ?`, id)
	})
	if err != nil {
		return svc.Project{}, fmt.Errorf("deleting project %s: %w", id, err)
	}
	failpoint.Hit("registry/project/deleted")
	return p, nil
}

// VersionsOfDeleted returns the versions of deleted projects that are not destroyed. They
// are returned without a pin, which protects from nothing there.
func (db *DB) VersionsOfDeleted(ctx context.Context) (all []svc.Version, err error) {
	err = db.file.InReadTx(ctx, func(tx *sql.Tx) error {
		rows, err := versions(ctx, tx, `WHERE p.deleted_at IS NOT NULL AND v.status <> 'destroyed' ORDER BY v.seq`)
		for _, r := range rows {
			r.row.Pinned = false
			all = append(all, r.row)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing versions of deleted projects: %w", err)
	}
	return all, nil
}
