package registry

import (
	"context"
	"fmt"

	"github.com/svcctl/svcctl/internal/svc"
)

// Tree returns all versions of a project, destroyed ones among them, oldest first, with
// the fields of svc.Branch only; NotFound, project_not_found.
func (db *DB) Tree(ctx context.Context, projectID string) ([]svc.Version, error) {
	p, err := db.Project(ctx, projectID)
	if err != nil {
		return nil, err
	}
	all, err := collect(ctx, db.file.Read(), func(s scanner) (v svc.Version, err error) {
		v.Project = projectID
		err = s.Scan(&v.Version, &v.ParentID, &v.Status, &v.GitRef, &v.PreviewName, &v.ForkTXID, &v.Pinned, stamp{&v.CreatedAt})
		v.Production = v.Version == p.ProdVersionID
		return v, err
	}, `SELECT id, coalesce(parent_id, ''), status, git_ref, preview_name, fork_txid, pinned, created_at FROM versions
		WHERE project_id = ? ORDER BY seq`, projectID)
	if err != nil {
		return nil, fmt.Errorf("listing the tree of %s: %w", projectID, err)
	}
	return all, nil
}
