package registry

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// ChangeProject changes settings of a project and returns the record. c must be valid
// (svc.ProjectChange.Validate).
//
// Errors: NotFound, project_not_found; Unprocessable, parent_not_found, parent_destroyed
// or env_too_many_keys.
func (db *DB) ChangeProject(ctx context.Context, id string, c svc.ProjectChange) (p svc.Project, err error) {
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		if _, err := project(ctx, tx, id); err != nil {
			return err
		}
		if err := setPreviewParent(ctx, tx, id, c.PreviewParent); err != nil {
			return err
		}
		if err := setPreviewEnv(ctx, tx, id, c.PreviewEnv); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE projects SET updated_at = max(?1, updated_at + 1), guard = coalesce(?2, guard), read_only = coalesce(?3, read_only)
			WHERE id = ?4`, millis(time.Now()), c.Guard, c.ReadOnly, id); err != nil {
			return err
		}
		p, err = project(ctx, tx, id)
		if err == nil {
			err = svc.Invalid(svc.CheckEnv(p.PreviewEnv, "/preview_env"))
		}
		return err
	})
	if err != nil {
		return svc.Project{}, fmt.Errorf("changing project %s: %w", id, err)
	}
	return p, nil
}

func setPreviewParent(ctx context.Context, tx *sql.Tx, id string, parent *string) error {
	if parent == nil {
		return nil
	}
	if *parent != "" && *parent != svc.ParentProduction { // that is resolved at each create
		v, err := version(ctx, tx, svc.Ref{Project: id, Version: *parent})
		if err != nil {
			return svc.NoParent(id, *parent).At("/preview_parent")
		}
		if v.Status == svc.StatusDestroyed {
			return svc.Errorf(svc.Unprocessable, svc.CodeParentDestroyed, "the version %s was destroyed", *parent).At("/preview_parent")
		}
	}
	_, err := tx.ExecContext(ctx, `UPDATE projects SET preview_parent = ? WHERE id = ?`, *parent, id)
	return err
}

func setPreviewEnv(ctx context.Context, tx *sql.Tx, id string, env map[string]*string) error {
	for k, v := range env {
		query, args := `DELETE FROM preview_env WHERE project_id = ? AND key = ?`, []any{id, k}
		if v != nil {
			query = `INSERT INTO preview_env (project_id, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`
			args = append(args, *v)
		}
		if _, err := tx.ExecContext(ctx, query, args...); err != nil {
			return err
		}
	}
	return nil
}

// ReadOnlyProjects returns the ids of the projects that are read-only.
func (db *DB) ReadOnlyProjects(ctx context.Context) (ids []string, err error) {
	err = db.file.InReadTx(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT id FROM projects WHERE read_only AND deleted_at IS NULL`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("listing read-only projects: %w", err)
	}
	return ids, nil
}
