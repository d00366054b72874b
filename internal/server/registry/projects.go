package registry

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

const projectColumns = `seq, id, git_remote, coalesce(prod_version_id, ''), preview_parent,
	(SELECT json_group_object(key, value) FROM preview_env e WHERE e.project_id = projects.id), guard, read_only, worker_name, object_namespace, created_at, updated_at`

func scanProject(s scanner) (positioned[svc.Project], error) {
	var p positioned[svc.Project]
	var env string
	err := s.Scan(&p.seq, &p.row.ID, &p.row.GitRemote, &p.row.ProdVersionID, &p.row.PreviewParent, &env, &p.row.Guard, &p.row.ReadOnly, &p.row.WorkerName,
		&p.row.ObjectNamespace, stamp{&p.row.CreatedAt}, stamp{&p.row.UpdatedAt})
	if err == nil {
		err = json.Unmarshal([]byte(env), &p.row.PreviewEnv)
	}
	return p, err
}

// CreateProject stores p and returns the record. A repeat with an equal project
// returns the record and created false; another git_remote for the id is a Conflict,
// project_exists [D8].
func (db *DB) CreateProject(ctx context.Context, p svc.Project) (stored svc.Project, created bool, err error) {
	svc.AuditDraftOf(ctx).About(svc.Ref{Project: p.ID})
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		now := millis(time.Now())
		n, err := affected(ctx, tx, `INSERT INTO projects (id, git_remote, created_at, updated_at, object_namespace)
			VALUES (?1, ?2, ?3, ?3, ?4) ON CONFLICT (id) DO NOTHING`, p.ID, p.GitRemote, now, newNamespace())
		if err != nil {
			return err
		}
		if n == 0 { // a deleted project begins anew
			if n, err = affected(ctx, tx, `UPDATE projects SET git_remote = ?1, deleted_at = NULL, created_at = ?2, updated_at = max(?2, updated_at + 1), object_namespace = ?4
				WHERE id = ?3 AND deleted_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM versions WHERE project_id = ?3 AND status <> 'destroyed')`,
				p.GitRemote, now, p.ID, newNamespace()); err != nil {
				return err
			}
		}
		created = n == 1
		stored, err = project(ctx, tx, p.ID)
		if errors.Is(err, svc.NotFound) {
			return svc.Errorf(svc.Conflict, svc.CodeProjectExists, "project %q is being deleted", p.ID).WithHint("try again when its versions are destroyed")
		}
		if err == nil && stored.GitRemote != p.GitRemote {
			return svc.Errorf(svc.Conflict, svc.CodeProjectExists, "project %q exists with another git_remote", p.ID).
				WithHint("choose another id, or send the git_remote that it has")
		}
		return err
	})
	if err != nil {
		return svc.Project{}, false, fmt.Errorf("creating project %s: %w", p.ID, err)
	}
	failpoint.Hit("registry/project/created")
	return stored, created, nil
}

// Project returns a project, or NotFound, project_not_found.
func (db *DB) Project(ctx context.Context, id string) (svc.Project, error) {
	return project(ctx, db.file.Read(), id)
}

func project(ctx context.Context, q querier, id string) (svc.Project, error) {
	p, err := scanProject(q.QueryRowContext(ctx, `SELECT `+projectColumns+` FROM projects WHERE id = ? AND deleted_at IS NULL`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return svc.Project{}, svc.Errorf(svc.NotFound, svc.CodeProjectNotFound, "there is no project %q", id)
	}
	if err != nil {
		return svc.Project{}, fmt.Errorf("reading project %s: %w", id, err)
	}
	return p.row, nil
}

// ListProjects returns a page of all projects, newest first [D7].
func (db *DB) ListProjects(ctx context.Context, req svc.PageRequest) (svc.Page[svc.Project], error) {
	before, limit := windowOf(req)
	rows, err := collect(ctx, db.file.Read(), scanProject,
		`SELECT `+projectColumns+` FROM projects WHERE deleted_at IS NULL AND seq < ? ORDER BY seq DESC LIMIT ?`, before, limit)
	if err != nil {
		return svc.Page[svc.Project]{}, fmt.Errorf("listing projects: %w", err)
	}
	return cut(rows, req), nil
}
