package registry

import (
	"context"
	"database/sql"

	"github.com/svcctl/svcctl/internal/svc"
)

// setEnv stores the overrides of a new version.
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
