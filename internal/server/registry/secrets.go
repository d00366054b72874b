package registry

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

const secretColumns = `project_id, name, class, key_id, sealed, coalesce(before_key_id, ''), before_sealed, updated_at, updated_by`

func scanSecret(s scanner) (r svc.SealedSecret, err error) {
	err = s.Scan(&r.Project, &r.Name, &r.Class, &r.Value.KeyID, &r.Value.Bytes, &r.Before.KeyID, &r.Before.Bytes, stamp{&r.UpdatedAt}, &r.UpdatedBy)
	return r, err
}

// Secrets returns the sealed secrets of a project, by name and class; none of one that does not exist.
func (db *DB) Secrets(ctx context.Context, project string) ([]svc.SealedSecret, error) {
	return secrets(ctx, db.file.Read(), `WHERE project_id = ?`, project)
}

// AllSecrets returns the sealed secrets of all projects.
func (db *DB) AllSecrets(ctx context.Context) ([]svc.SealedSecret, error) {
	return secrets(ctx, db.file.Read(), ``)
}

func secrets(ctx context.Context, q querier, where string, args ...any) ([]svc.SealedSecret, error) {
	rows, err := collect(ctx, q, scanSecret, `SELECT `+secretColumns+` FROM secrets `+where+` ORDER BY project_id, name, class`, args...)
	if err != nil {
		return nil, fmt.Errorf("reading secrets: %w", err)
	}
	return rows, nil
}

// WriteSecrets stores a change of secrets and returns those of the project after it.
//
// Errors: NotFound, project_not_found; Conflict, promote_in_progress, also if production is not that of
// the change any more; Unprocessable, secrets_too_many.
func (db *DB) WriteSecrets(ctx context.Context, w svc.SecretWrite) (all []svc.SealedSecret, err error) {
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		p, err := project(ctx, tx, w.Project)
		if err != nil {
			return err
		}
		if err := noPromotion(ctx, tx, p, w.Production); err != nil {
			return err
		}
		for _, s := range w.Put {
			if err := putSecret(ctx, tx, s); err != nil {
				return err
			}
		}
		for _, n := range w.Delete {
			if _, err := tx.ExecContext(ctx, `DELETE FROM secrets WHERE project_id = ? AND name = ? AND class = ?`, n.Project, n.Name, n.Class); err != nil {
				return err
			}
		}
		all, err = secrets(ctx, tx, `WHERE project_id = ?`, w.Project)
		if len(all) > svc.MaxSecrets {
			return svc.Errorf(svc.Unprocessable, svc.CodeSecretsTooMany, "project %s would have %d secrets; at most %d are allowed", w.Project, len(all), svc.MaxSecrets).
				WithHint("delete secrets that no version uses: svcctl secret delete NAME")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("storing secrets of %s: %w", w.Project, err)
	}
	failpoint.Hit("registry/secrets/written")
	return all, nil
}

// noPromotion returns an error if production changes, or has changed.
func noPromotion(ctx context.Context, tx *sql.Tx, p svc.Project, production string) error {
	running := false
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM promotions WHERE project_id = ? AND status = 'running')`, p.ID).Scan(&running); err != nil {
		return err
	}
	if running || p.ProdVersionID != production {
		return svc.Errorf(svc.Conflict, svc.CodePromoteInProgress, "production of project %s is being changed", p.ID).WithHint("wait until the promotion has ended, and try again")
	}
	return nil
}

func putSecret(ctx context.Context, tx *sql.Tx, s svc.SealedSecret) error {
	var beforeKey, before any // NULL for none
	if s.Before.KeyID != "" {
		beforeKey, before = s.Before.KeyID, s.Before.Bytes
	}
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO secrets (project_id, name, class, key_id, sealed, before_key_id, before_sealed, updated_at, updated_by)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, s.Project, s.Name, s.Class, s.Value.KeyID, s.Value.Bytes, beforeKey, before, millis(s.UpdatedAt), s.UpdatedBy)
	return err
}

// ResealSecret replaces the sealed values of a secret by those of next, unless they changed meanwhile.
func (db *DB) ResealSecret(ctx context.Context, was, next svc.SealedSecret) (done bool, err error) {
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		now, err := secrets(ctx, tx, `WHERE project_id = ? AND name = ? AND class = ? AND key_id = ? AND sealed = ?`, was.Project, was.Name, was.Class, was.Value.KeyID, was.Value.Bytes)
		if err != nil || len(now) == 0 {
			return err
		}
		done = true
		return putSecret(ctx, tx, next)
	})
	if err != nil {
		return false, fmt.Errorf("sealing a secret of %s: %w", was.Project, err)
	}
	return done, nil
}

// SecretKeys returns how many values each key has sealed.
func (db *DB) SecretKeys(ctx context.Context) (counts map[string]int, err error) {
	all, err := db.AllSecrets(ctx)
	counts = map[string]int{}
	for _, s := range all {
		counts[s.Value.KeyID]++
		if s.Before.KeyID != "" {
			counts[s.Before.KeyID]++
		}
	}
	return counts, err
}

// Promoted reports whether a promote or a release made a version production, or is about to. The first
// production of a project, which nothing promoted, is not.
func (db *DB) Promoted(ctx context.Context, ref svc.Ref) (promoted bool, err error) {
	err = db.file.Read().QueryRowContext(ctx, `SELECT EXISTS (
		SELECT 1 FROM promotions o JOIN projects p ON p.id = o.project_id
		WHERE o.project_id = ? AND o.version_id = ? AND (o.status = 'running' OR o.status = 'done' AND p.prod_version_id = o.version_id))`,
		ref.Project, ref.Version).Scan(&promoted)
	if err != nil {
		return false, fmt.Errorf("reading the promotions of %s: %w", ref, err)
	}
	return promoted, nil
}
