package registry

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// productionSet is the failpoint after each commit that changes a production.
const productionSet = "registry/production/set"

// assignFirst makes ref production if its project has none.
func assignFirst(ctx context.Context, tx *sql.Tx, ref svc.Ref, now time.Time) (assigned bool, err error) {
	n, err := affected(ctx, tx, `UPDATE projects SET prod_version_id = ?1, updated_at = max(?2, updated_at + 1)
		WHERE id = ?3 AND prod_version_id IS NULL AND deleted_at IS NULL`, ref.Version, millis(now), ref.Project)
	return n == 1, err
}

// SetProduction makes next the project's production, or none if next is "", if the
// production is expected. It is idempotent, for resumed sagas: it succeeds if next is
// production already. spec: [C8.8].
//
// Errors: Precondition, production_moved, if another version is production;
// Conflict, version_not_ready, if next does not serve; NotFound.
func (db *DB) SetProduction(ctx context.Context, projectID, expected, next string) error {
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		n, err := affected(ctx, tx, `UPDATE projects
			SET prod_version_id = ?1, updated_at = max(?2, updated_at + 1)
			WHERE id = ?3 AND deleted_at IS NULL AND prod_version_id IS ?4 AND (?1 IS NULL OR EXISTS (
				SELECT 1 FROM versions WHERE project_id = ?3 AND id = ?1 AND status IN ('ready', 'draining')))`,
			null(next), millis(time.Now()), projectID, null(expected))
		if err != nil || n == 1 {
			return err
		}
		return explainProduction(ctx, tx, svc.Ref{Project: projectID, Version: next}, expected)
	})
	if err != nil {
		return fmt.Errorf("setting the production of %s: %w", projectID, err)
	}
	failpoint.Hit(productionSet)
	return nil
}

// explainProduction returns the reason why SetProduction changed nothing; nil if
// next is production already.
func explainProduction(ctx context.Context, tx *sql.Tx, next svc.Ref, expected string) error {
	p, err := project(ctx, tx, next.Project)
	switch {
	case err != nil:
		return err
	case p.ProdVersionID == next.Version:
		return nil
	case p.ProdVersionID != expected:
		return svc.Errorf(svc.Precondition, svc.CodeProductionMoved, "production is %q, not %q", p.ProdVersionID, expected).
			WithHint("read the project again and retry with its current production")
	}
	v, err := version(ctx, tx, next)
	if err != nil {
		return err
	}
	return svc.Errorf(svc.Conflict, svc.CodeVersionNotReady, "version %s is %s and cannot be production", next.Version, v.Status)
}
