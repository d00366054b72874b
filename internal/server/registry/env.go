package registry

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// Environment returns the environment of a version. Errors: Gone, version_destroyed;
// NotFound.
func (db *DB) Environment(ctx context.Context, ref svc.Ref) (e svc.Environment, err error) {
	err = db.file.InReadTx(ctx, func(tx *sql.Tx) error {
		v, err := version(ctx, tx, ref)
		if err != nil {
			return err
		}
		if v.Status == svc.StatusDestroyed {
			return destroyed(ref)
		}
		e = svc.Environment{Ref: ref, Bundle: map[string]string{}, Overrides: v.Env}
		var bundle sql.NullString
		if err := tx.QueryRowContext(ctx, `SELECT bundle_env FROM versions WHERE project_id = ? AND id = ?`,
			ref.Project, ref.Version).Scan(&bundle); err != nil || !bundle.Valid {
			return err
		}
		return json.Unmarshal([]byte(bundle.String), &e.Bundle)
	})
	if err != nil {
		return svc.Environment{}, fmt.Errorf("reading the environment of %s: %w", ref, err)
	}
	return e, nil
}

// SetBundleEnv records the variables of a version's bundle. Only the first call for a
// version has an effect: its bundle never changes.
func (db *DB) SetBundleEnv(ctx context.Context, ref svc.Ref, vars map[string]string) error {
	if vars == nil {
		vars = map[string]string{}
	}
	text, err := json.Marshal(vars)
	if err == nil {
		err = db.file.InTx(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE versions SET bundle_env = ? WHERE project_id = ? AND id = ? AND bundle_env IS NULL`,
				string(text), ref.Project, ref.Version)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("recording the variables of the bundle of %s: %w", ref, err)
	}
	return nil
}

// SetEnv replaces the overrides of a version, whose runtime reads them at its next
// start, and returns the record. A deploy that has passed the step branching may have
// read the old ones.
//
// Errors: Conflict, version_not_ready, in the steps preparing to deploy_ready, and
// version_failed; Gone, version_destroyed; NotFound.
func (db *DB) SetEnv(ctx context.Context, ref svc.Ref, env map[string]string) (v svc.Version, err error) {
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		if v, err = version(ctx, tx, ref); err != nil {
			return err
		}
		if err := svc.CanSetEnv(v); err != nil {
			return err
		}
		var seq int64
		if err := tx.QueryRowContext(ctx, `UPDATE versions SET updated_at = max(?, updated_at + 1)
			WHERE project_id = ? AND id = ? RETURNING seq`, millis(time.Now()), ref.Project, ref.Version).Scan(&seq); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM version_env WHERE version_seq = ?`, seq); err != nil {
			return err
		}
		if err := setEnv(ctx, tx, seq, env); err != nil {
			return err
		}
		if v, err = version(ctx, tx, ref); err != nil {
			return err
		}
		return addEvent(ctx, tx, svc.FeedEvent{Type: svc.FeedEnvChanged, Project: ref.Project, Version: ref.Version, Time: v.UpdatedAt})
	})
	if err != nil {
		return svc.Version{}, fmt.Errorf("setting the variables of %s: %w", ref, err)
	}
	failpoint.Hit("registry/env/set")
	return v, nil
}

// setEnv stores overrides of a version that has none.
func setEnv(ctx context.Context, tx *sql.Tx, seq int64, env map[string]string) error {
	for k, v := range env {
		if _, err := tx.ExecContext(ctx, `INSERT INTO version_env (version_seq, key, value) VALUES (?, ?, ?)`, seq, k, v); err != nil {
			return err
		}
	}
	return nil
}

// attachEnv adds the overrides of the versions whose seq is in list, a JSON
// array. A version without any gets an empty map.
func attachEnv(ctx context.Context, tx *sql.Tx, list string, bySeq map[int64]*svc.Version) error {
	type entry struct {
		seq        int64
		key, value string
	}
	rows, err := collect(ctx, tx, func(s scanner) (e entry, err error) {
		err = s.Scan(&e.seq, &e.key, &e.value)
		return e, err
	}, `SELECT version_seq, key, value FROM version_env WHERE version_seq IN (SELECT value FROM json_each(?))`, list)
	for _, v := range bySeq {
		v.Env = map[string]string{}
	}
	for _, r := range rows {
		bySeq[r.seq].Env[r.key] = r.value
	}
	return err
}
