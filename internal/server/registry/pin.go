package registry

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// SetPinned sets whether a version is protected from idle archiving [D18] and
// returns the record. An automatic pin becomes a person's, or ends. Idempotent.
//
// Errors: Gone, version_destroyed; NotFound.
func (db *DB) SetPinned(ctx context.Context, ref svc.Ref, pinned bool) (v svc.Version, err error) {
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE versions SET pinned = ?1, pin_auto = 0, updated_at = max(?2, updated_at + 1)
			WHERE project_id = ?3 AND id = ?4 AND (pinned <> ?1 OR pin_auto) AND status <> 'destroyed'`,
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

// PinRollback moves the automatic pins of a project to its newest keep previous
// productions that still have their data. op is a promotion that is about to end as
// done. It does not change the pins of people. Idempotent. spec: [C8.14] [D24].
func (db *DB) PinRollback(ctx context.Context, op svc.Promotion, keep int) error {
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		now := millis(time.Now())
		if _, err := tx.ExecContext(ctx, `UPDATE versions SET pinned = 0, pin_auto = 0, updated_at = max(?1, updated_at + 1)
			WHERE project_id = ?2 AND pin_auto AND id NOT IN (`+rollbackTargets+`)`, now, op.Project, op.ID, keep); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE versions SET pinned = 1, pin_auto = 1, updated_at = max(?1, updated_at + 1)
			WHERE project_id = ?2 AND NOT pinned AND id IN (`+rollbackTargets+`)`, now, op.Project, op.ID, keep)
		return err
	})
	if err != nil {
		return fmt.Errorf("pinning the previous productions of %s: %w", op.Project, err)
	}
	return nil
}

// rollbackTargets selects the ids of the newest ?4 previous productions of project ?2.
const rollbackTargets = `SELECT o.previous_id FROM promotions o JOIN versions t ON t.project_id = o.project_id AND t.id = o.previous_id
	WHERE o.project_id = ?2 AND (o.status = 'done' OR o.id = ?3) AND t.status IN ('ready', 'draining', 'archived')
		AND o.previous_id IS NOT (SELECT prod_version_id FROM projects WHERE id = ?2)
	GROUP BY o.previous_id ORDER BY max(o.seq) DESC LIMIT ?4`

// Demoted returns when a version last ceased to be production by a promotion; the zero
// time if it never did.
func (db *DB) Demoted(ctx context.Context, ref svc.Ref) (at time.Time, err error) {
	err = db.file.Read().QueryRowContext(ctx, `SELECT max(finished_at) FROM promotions
		WHERE project_id = ? AND previous_id = ? AND status = 'done'`, ref.Project, ref.Version).Scan(stamp{&at})
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the promotions from %s: %w", ref, err)
	}
	return at, nil
}

func destroyed(ref svc.Ref) error {
	return svc.Errorf(svc.Gone, svc.CodeVersionDestroyed, "version %s was destroyed", ref)
}
