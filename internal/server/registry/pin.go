package registry

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// SetPinned sets whether a version is protected from idle archiving [D18] and
// returns the record. Idempotent.
//
// Errors: Gone, version_destroyed; NotFound.
func (db *DB) SetPinned(ctx context.Context, ref svc.Ref, pinned bool) (v svc.Version, err error) {
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE versions SET pinned = ?1, updated_at = max(?2, updated_at + 1)
			WHERE project_id = ?3 AND id = ?4 AND pinned <> ?1 AND status <> 'destroyed'`,
			pinned, millis(time.Now()), ref.Project, ref.Version)
		if err != nil {
			return err
		}
		if v, err = version(ctx, tx, ref); err != nil {
			return err
		}
		if v.Status == svc.StatusDestroyed {
			return destroyed(ref)
		}
		return nil
	})
	if err != nil {
		return svc.Version{}, fmt.Errorf("pinning %s: %w", ref, err)
	}
	return v, nil
}

func destroyed(ref svc.Ref) error {
	return svc.Errorf(svc.Gone, svc.CodeVersionDestroyed, "version %s was destroyed", ref)
}
