package registry

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// SetAsleep records that a version whose status serves sleeps since at, and when it must
// run for work of its own (zero for never). A zero at records that it does not sleep.
// It does not count as a change of the record. Idempotent. Error: Conflict,
// version_not_ready, if the status of a version that is to sleep does not serve.
func (db *DB) SetAsleep(ctx context.Context, ref svc.Ref, at, wake time.Time) error {
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		n, err := affected(ctx, tx, `UPDATE versions SET asleep_at = ?1, wake_at = ?2
			WHERE project_id = ?3 AND id = ?4 AND (?1 IS NULL OR status IN ('ready', 'draining'))`,
			millis(at), millis(wake), ref.Project, ref.Version)
		if err == nil && n == 0 && !at.IsZero() {
			err = svc.Errorf(svc.Conflict, svc.CodeVersionNotReady, "version %s does not serve", ref)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("recording the sleep of %s: %w", ref, err)
	}
	return nil
}
