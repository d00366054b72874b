package registry

import (
	"context"
	"fmt"

	"github.com/svcctl/svcctl/internal/svc"
)

// Briefs lists all versions of a project, including destroyed ones, oldest first;
// none if the project does not exist.
func (db *DB) Briefs(ctx context.Context, projectID string) ([]svc.Brief, error) {
	briefs, err := collect(ctx, db.file.Read(), func(s scanner) (b svc.Brief, err error) {
		err = s.Scan(&b.ID, &b.Status, &b.ForkTXID, stamp{&b.UpdatedAt})
		return b, err
	}, `SELECT id, status, fork_txid, updated_at FROM versions WHERE project_id = ? ORDER BY seq`, projectID)
	if err != nil {
		return nil, fmt.Errorf("listing versions of %s: %w", projectID, err)
	}
	return briefs, nil
}
