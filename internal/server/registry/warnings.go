package registry

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// AddWarning adds a text, cut to 2 KiB, to a version's warnings [D47].
func (db *DB) AddWarning(ctx context.Context, ref svc.Ref, text string) error {
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		n, err := affected(ctx, tx, `INSERT INTO version_warnings (version_seq, text, created_at)
			SELECT seq, ?, ? FROM versions WHERE project_id = ? AND id = ?`,
			clip(text), millis(time.Now()), ref.Project, ref.Version)
		if err != nil || n == 1 {
			return err
		}
		_, err = version(ctx, tx, ref) // says which part of ref does not exist
		return err
	})
	if err != nil {
		return fmt.Errorf("adding a warning to %s: %w", ref, err)
	}
	return nil
}

// attachWarnings adds the warnings of the versions whose seq is in list.
func attachWarnings(ctx context.Context, tx *sql.Tx, list string, bySeq map[int64]*svc.Version) error {
	rows, err := collect(ctx, tx, func(s scanner) (p positioned[string], err error) {
		err = s.Scan(&p.seq, &p.row)
		return p, err
	}, `SELECT version_seq, text FROM version_warnings WHERE version_seq IN (SELECT value FROM json_each(?)) ORDER BY seq`, list)
	for _, r := range rows {
		bySeq[r.seq].Warnings = append(bySeq[r.seq].Warnings, r.row)
	}
	return err
}
