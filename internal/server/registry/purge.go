package registry

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Unpurged lists destroyed versions that are not purged, oldest first [D22].
func (db *DB) Unpurged(ctx context.Context) ([]svc.Ref, error) {
	refs, err := collect(ctx, db.file.Read(), scanRef, `SELECT project_id, id FROM versions WHERE status = 'destroyed' AND purged_at IS NULL ORDER BY seq`)
	if err != nil {
		return nil, fmt.Errorf("listing versions to purge: %w", err)
	}
	return refs, nil
}

func scanRef(s scanner) (r svc.Ref, err error) {
	err = s.Scan(&r.Project, &r.Version)
	return r, err
}

// MarkPurged records that all files of a destroyed version are deleted, and deletes
// its overrides, which may be secrets. The rest of the tombstone stays. Idempotent.
//
// Errors: Conflict, version_not_destroyed; NotFound.
func (db *DB) MarkPurged(ctx context.Context, ref svc.Ref) error {
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		n, err := affected(ctx, tx, `UPDATE versions SET purged_at = coalesce(purged_at, ?1)
			WHERE project_id = ?2 AND id = ?3 AND status = 'destroyed'`, millis(time.Now()), ref.Project, ref.Version)
		if err != nil {
			return err
		}
		if n == 0 {
			return explainPurge(ctx, tx, ref)
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM version_env
			WHERE version_seq = (SELECT seq FROM versions WHERE project_id = ? AND id = ?)`, ref.Project, ref.Version)
		return err
	})
	if err != nil {
		return fmt.Errorf("marking %s as purged: %w", ref, err)
	}
	return nil
}

func explainPurge(ctx context.Context, tx *sql.Tx, ref svc.Ref) error {
	v, err := version(ctx, tx, ref)
	if err != nil {
		return err
	}
	return svc.Errorf(svc.Conflict, svc.CodeVersionNotDestroyed, "version %s is %s", ref, v.Status)
}
