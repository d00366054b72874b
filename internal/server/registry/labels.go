package registry

import (
	"context"
	"database/sql"

	"github.com/svcctl/svcctl/internal/svc"
)

// setLabels stores the labels of a new version.
func setLabels(ctx context.Context, tx *sql.Tx, seq int64, labels map[string]string) error {
	for k, v := range labels {
		if _, err := tx.ExecContext(ctx, `INSERT INTO version_labels (version_seq, key, value) VALUES (?, ?, ?)`, seq, k, v); err != nil {
			return err
		}
	}
	return nil
}

// attachLabels adds the labels of the versions whose seq is in list, a JSON array. A
// version without any keeps nil.
func attachLabels(ctx context.Context, tx *sql.Tx, list string, bySeq map[int64]*svc.Version) error {
	_, err := collect(ctx, tx, func(s scanner) (none struct{}, err error) {
		var seq int64
		var key, value string
		if err = s.Scan(&seq, &key, &value); err == nil {
			v := bySeq[seq]
			if v.Labels == nil {
				v.Labels = map[string]string{}
			}
			v.Labels[key] = value
		}
		return none, err
	}, `SELECT version_seq, key, value FROM version_labels WHERE version_seq IN (SELECT value FROM json_each(?))`, list)
	return err
}
