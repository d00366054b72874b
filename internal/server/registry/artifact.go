package registry

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// SetArtifact records the digest and the size in bytes of a version's bundle
// [D41]. Idempotent. A digest that differs from the recorded one is a Conflict,
// digest_mismatch.
func (db *DB) SetArtifact(ctx context.Context, ref svc.Ref, digest string, size int64) error {
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		n, err := affected(ctx, tx, `UPDATE versions SET digest = ?1, size_bytes = ?2, updated_at = max(?3, updated_at + 1)
			WHERE project_id = ?4 AND id = ?5 AND digest IN ('', ?1)`,
			digest, size, millis(time.Now()), ref.Project, ref.Version)
		if err != nil || n == 1 {
			return err
		}
		v, err := version(ctx, tx, ref)
		if err != nil {
			return err
		}
		return svc.Errorf(svc.Conflict, svc.CodeDigestMismatch, "the bundle has the digest %s; the version was created with %s", digest, v.Digest)
	})
	if err != nil {
		return fmt.Errorf("recording the artifact of %s: %w", ref, err)
	}
	return nil
}

// TouchRequests records the time of the last request of versions, for idle
// archiving [D24]. Times only move forward; versions that do not exist are skipped.
// updated_at does not change.
func (db *DB) TouchRequests(ctx context.Context, last map[svc.Ref]time.Time) error {
	if len(last) == 0 {
		return nil
	}
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		for ref, at := range last {
			if _, err := tx.ExecContext(ctx, `UPDATE versions SET last_request_at = max(coalesce(last_request_at, 0), ?)
				WHERE project_id = ? AND id = ?`, at.UnixMilli(), ref.Project, ref.Version); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("recording requests: %w", err)
	}
	return nil
}
