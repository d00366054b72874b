package registry

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/svcctl/svcctl/internal/svc"
)

// checkNames rejects a preview name that is or was a version's id, and an id that is or
// was a preview name: both have one host name, and ids are never used twice [D2].
func (c create) checkNames(ctx context.Context) error {
	taken := false
	if name := c.n.Preview.Name; name != "" {
		err := c.tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM versions WHERE project_id = ? AND id = ?)`, c.n.Project, name).Scan(&taken)
		if err == nil && taken {
			err = nameTaken("the preview name %q is or was the id of a version", name)
		}
		if err != nil {
			return err
		}
	}
	if c.n.ID == "" {
		return nil
	}
	// "preview_name <> ''" lets SQLite use the index versions_preview.
	err := c.tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM versions WHERE project_id = ?1 AND preview_name = ?2 AND preview_name <> '')`, c.n.Project, c.n.ID).Scan(&taken)
	if err == nil && taken {
		err = nameTaken("the id %q is or was a preview name", c.n.ID)
	}
	return err
}

func nameTaken(format, name string) error {
	return svc.Errorf(svc.Conflict, svc.CodePreviewNameTaken, format, name).WithHint("choose another: both would have one host name")
}

// inherits returns the parent of the new version, "" for none, and the variables that
// it has as a preview.
func (c create) inherits(ctx context.Context) (parent string, base map[string]string, err error) {
	p, err := project(ctx, c.tx, c.n.Project)
	if err != nil {
		return "", nil, err
	}
	if c.n.Preview.Name != "" {
		base = p.PreviewEnv
	}
	if parent, err = c.asked(ctx, p); err != nil || parent != svc.ParentProduction {
		return parent, base, err
	}
	if p.ProdVersionID == "" {
		return "", nil, svc.Errorf(svc.Unprocessable, svc.CodeNoProduction, "project %s has no production to be the parent", p.ID).
			WithHint("name a version of the project, or none for a root version").At(parentPointer)
	}
	return p.ProdVersionID, base, nil
}

// asked returns the parent as the request or the project names it. A preview name without a given
// parent continues its last version.
func (c create) asked(ctx context.Context, p svc.Project) (parent string, err error) {
	if c.n.ParentID != "" || c.n.Preview.Name == "" {
		return c.n.ParentID, nil
	}
	if !c.n.Preview.Fresh {
		if parent, err = currentOf(ctx, c.tx, c.n.Project, c.n.Preview.Name); err != nil || parent != "" {
			return parent, err
		}
	}
	return p.PreviewParent, nil
}

// current selects the newest version of a name that has been ready: the version of its
// host name.
const current = `SELECT coalesce((SELECT id FROM versions WHERE project_id = ? AND preview_name = ?
	AND ready_at IS NOT NULL AND status <> 'destroyed' ORDER BY seq DESC LIMIT 1), '')`

func currentOf(ctx context.Context, q querier, projectID, name string) (id string, err error) {
	err = q.QueryRowContext(ctx, current, projectID, name).Scan(&id)
	return id, err
}

// PreviewVersion returns the id of the version of a preview's host name, "" for none.
func (db *DB) PreviewVersion(ctx context.Context, projectID, name string) (string, error) {
	id, err := currentOf(ctx, db.file.Read(), projectID, name)
	if err != nil {
		return "", fmt.Errorf("reading the version of preview %s of %s: %w", name, projectID, err)
	}
	return id, nil
}

// Replaced returns the ready versions of all previews that a newer version of their name
// has replaced and that are beyond its PreviewKeep. It leaves out pinned versions and
// production.
func (db *DB) Replaced(ctx context.Context) ([]svc.Ref, error) {
	refs, err := collect(ctx, db.file.Read(), scanRef, `WITH kept AS (
			SELECT project_id, id, status, pinned,
				row_number() OVER name - 1 AS before,
				first_value(preview_keep) OVER name AS keep
			FROM versions WHERE preview_name <> '' AND ready_at IS NOT NULL AND status NOT IN ('destroyed', 'failed')
			WINDOW name AS (PARTITION BY project_id, preview_name ORDER BY seq DESC))
		SELECT k.project_id, k.id FROM kept k JOIN projects p ON p.id = k.project_id
		WHERE before > keep AND status = 'ready' AND NOT pinned AND p.prod_version_id IS NOT k.id`)
	if err != nil {
		return nil, fmt.Errorf("listing replaced versions of previews: %w", err)
	}
	return refs, nil
}

const selectPreviews = `WITH named AS (
		SELECT preview_name AS name, max(seq) AS newest, max(CASE WHEN ready_at IS NOT NULL THEN seq END) AS current,
			count(*) AS versions, min(created_at) AS since
		FROM versions WHERE project_id = ?1 AND preview_name <> '' AND status <> 'destroyed' AND (?4 = '' OR preview_name = ?4)
		GROUP BY preview_name)
	SELECT n.newest, n.name, n.versions, n.since,
		l.id, l.status, l.git_ref, l.git_sha, coalesce(l.parent_id, ''), l.preview_keep, l.created_at, l.updated_at,
		coalesce(c.id, ''), coalesce(c.status, ''), coalesce(c.git_ref, ''), coalesce(c.git_sha, ''), coalesce(c.parent_id, ''),
		coalesce(c.preview_keep, 0), c.created_at, c.updated_at
	FROM named n JOIN versions l ON l.seq = n.newest LEFT JOIN versions c ON c.seq = n.current
	WHERE n.newest < ?2 ORDER BY n.newest DESC LIMIT ?3`

func scanPreview(s scanner) (positioned[svc.Preview], error) {
	var p positioned[svc.Preview]
	l, c := &p.row.Newest, &p.row.Current
	err := s.Scan(&p.seq, &p.row.Name, &p.row.Versions, stamp{&p.row.Since},
		&l.Version, &l.Status, &l.GitRef, &l.GitSHA, &l.ParentID, &l.PreviewKeep, stamp{&l.CreatedAt}, stamp{&l.UpdatedAt},
		&c.Version, &c.Status, &c.GitRef, &c.GitSHA, &c.ParentID, &c.PreviewKeep, stamp{&c.CreatedAt}, stamp{&c.UpdatedAt})
	return p, err
}

// ListPreviews returns a page of a project's previews, the one with the newest version
// first.
func (db *DB) ListPreviews(ctx context.Context, projectID string, req svc.PageRequest) (page svc.Page[svc.Preview], err error) {
	rows, err := db.previews(ctx, projectID, "", req)
	return cut(rows, req), err
}

// Preview returns one preview, or NotFound, project_not_found or preview_not_found.
func (db *DB) Preview(ctx context.Context, projectID, name string) (svc.Preview, error) {
	var rows []positioned[svc.Preview]
	var err error
	if name != "" {
		rows, err = db.previews(ctx, projectID, name, svc.PageRequest{})
	}
	if err == nil && len(rows) == 0 {
		err = svc.Errorf(svc.NotFound, svc.CodePreviewNotFound, "project %q has no preview %q", projectID, name)
	}
	if err != nil {
		return svc.Preview{}, err
	}
	return rows[0].row, nil
}

func (db *DB) previews(ctx context.Context, projectID, name string, req svc.PageRequest) (rows []positioned[svc.Preview], err error) {
	before, limit := windowOf(req)
	err = db.file.InReadTx(ctx, func(tx *sql.Tx) error {
		if _, err := project(ctx, tx, projectID); err != nil {
			return err
		}
		rows, err = collect(ctx, tx, scanPreview, selectPreviews, projectID, before, limit, name)
		for i := range rows {
			p := &rows[i].row
			p.Project, p.Newest.Project, p.Current.Project = projectID, projectID, projectID
			p.Newest.PreviewName, p.Current.PreviewName = p.Name, p.Name
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing previews of %s: %w", projectID, err)
	}
	return rows, nil
}

// VersionsOfPreview returns the versions of a preview that are not destroyed, newest
// first.
func (db *DB) VersionsOfPreview(ctx context.Context, projectID, name string) (all []svc.Version, err error) {
	all, err = db.versionsWhere(ctx, `WHERE v.project_id = ? AND v.preview_name = ? AND v.preview_name <> '' AND v.status <> 'destroyed'
		ORDER BY v.seq DESC`, projectID, name)
	if err != nil {
		return nil, fmt.Errorf("listing the versions of preview %s of %s: %w", name, projectID, err)
	}
	return all, nil
}
