package registry

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/lib/saga"
	"github.com/svcctl/svcctl/internal/svc"
)

// SetMigrated records which migrations the deploy of a version applied, and how long they took.
// A repeat that applied none keeps what the first attempt recorded.
func (db *DB) SetMigrated(ctx context.Context, ref svc.Ref, m svc.Migrated) error {
	if len(m.Names) == 0 {
		return nil
	}
	names, err := json.Marshal(m.Names)
	if err == nil {
		err = db.file.InTx(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE versions SET migrations = ?, migrated_us = ?, updated_at = max(?, updated_at + 1) WHERE project_id = ? AND id = ?`,
				string(names), m.Took.Microseconds(), millis(time.Now()), ref.Project, ref.Version)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("recording the migrations of %s: %w", ref, err)
	}
	return nil
}

// RecordSteps adds steps of a promotion, which are over, to its journal.
func (db *DB) RecordSteps(ctx context.Context, opID string, steps []svc.StepRun) error {
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		for _, s := range steps {
			phase := saga.Done
			if s.Status == svc.StepFailed {
				phase = saga.Failed
			}
			for _, l := range []line{{s.Step, "", saga.Started, s.StartedAt}, {s.Step, s.Detail, phase, s.EndedAt}} {
				if _, err := tx.ExecContext(ctx, `INSERT INTO promotion_journal (promotion_seq, step, phase, detail, created_at)
					SELECT seq, ?, ?, ?, ? FROM promotions WHERE id = ?`, l.step, l.phase, clip(l.detail), millis(l.at), opID); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("recording the steps of release %s: %w", opID, err)
	}
	return nil
}

// jsonColumn scans a JSON column. An empty array or object leaves the value zero.
type jsonColumn struct{ to any }

// Scan implements sql.Scanner.
func (j jsonColumn) Scan(src any) error {
	text, ok := src.(string)
	if b, is := src.([]byte); is {
		text, ok = string(b), true
	}
	switch {
	case !ok:
		return fmt.Errorf("a JSON column holds %T", src)
	case text == "[]" || text == "{}":
		return nil
	}
	return json.Unmarshal([]byte(text), j.to)
}
