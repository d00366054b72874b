package registry

import (
	"context"
	"database/sql"
	"errors"
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
	if err == nil && n == 1 {
		err = getsEvents(ctx, tx, ref)
	}
	return n == 1, err
}

// IsProduction reports whether a version is its project's production.
func (db *DB) IsProduction(ctx context.Context, ref svc.Ref) (bool, error) {
	p, err := db.Project(ctx, ref.Project)
	return err == nil && p.ProdVersionID == ref.Version, err
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
		if err != nil {
			return err
		}
		if n == 1 {
			return errors.Join(leavesEvents(ctx, tx, projectID, expected, next), getsEvents(ctx, tx, svc.Ref{Project: projectID, Version: next}))
		}
		return explainProduction(ctx, tx, svc.Ref{Project: projectID, Version: next}, expected)
	})
	if err != nil {
		return fmt.Errorf("setting the production of %s: %w", projectID, err)
	}
	failpoint.Hit(productionSet)
	return nil
}

// leavesEvents has the version that was production run no events any more if next had handed its own
// over, to that version or to one between: next continues with them, and each would run twice.
func leavesEvents(ctx context.Context, tx *sql.Tx, projectID, was, next string) error {
	_, err := tx.ExecContext(ctx, `UPDATE versions SET events = 'handed_over', handed_over_to = ?1 WHERE project_id = ?2 AND id = ?3
		AND EXISTS (SELECT 1 FROM versions WHERE project_id = ?2 AND id = ?1 AND events = 'handed_over')`, next, projectID, was)
	return err
}

// getsEvents has a version that is production run its events from now on, also after it has ceased
// to be production.
func getsEvents(ctx context.Context, tx *sql.Tx, ref svc.Ref) error {
	_, err := tx.ExecContext(ctx, `UPDATE versions SET events = '', handed_over_to = '' WHERE project_id = ? AND id = ?`, ref.Project, ref.Version)
	return err
}

// takeOver makes ref production in place of expected, whose events it takes over: the commit of
// a release.
func takeOver(ctx context.Context, tx *sql.Tx, ref svc.Ref, expected string, now time.Time) error {
	n, err := affected(ctx, tx, `UPDATE projects SET prod_version_id = ?1, updated_at = max(?2, updated_at + 1)
		WHERE id = ?3 AND prod_version_id IS ?4 AND deleted_at IS NULL`, ref.Version, millis(now), ref.Project, expected)
	if err != nil {
		return err
	}
	if n != 1 {
		return svc.Errorf(svc.Precondition, svc.CodeProductionMoved, "production is no longer %q", expected)
	}
	_, err = tx.ExecContext(ctx, `UPDATE versions SET events = 'handed_over', handed_over_to = ?1, updated_at = max(?2, updated_at + 1)
		WHERE project_id = ?3 AND id = ?4`, ref.Version, millis(now), ref.Project, expected)
	return err
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
