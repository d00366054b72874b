package registry

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// advanceTimeline ends the version's open row, if any, and starts one for next if
// that is a step of a deploy.
func advanceTimeline(ctx context.Context, tx *sql.Tx, seq int64, ended svc.StepRun, next svc.Status) error {
	now := millis(ended.EndedAt)
	if _, err := tx.ExecContext(ctx, `UPDATE timeline SET status = ?, ended_at = max(?, started_at), detail = ?
		WHERE version_seq = ? AND ended_at IS NULL`, ended.Status, now, clip(ended.Detail), seq); err != nil {
		return err
	}
	if !next.InDeploy() {
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO timeline (version_seq, step, status, started_at) VALUES (?, ?, ?, ?)`,
		seq, string(next), svc.StepRunning, now)
	return err
}

// ExplainStep sets the detail of the step that a version is in, until the step ends. A version
// that is in none is not an error.
func (db *DB) ExplainStep(ctx context.Context, ref svc.Ref, detail string) error {
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE timeline SET detail = ? WHERE ended_at IS NULL
			AND version_seq = (SELECT seq FROM versions WHERE project_id = ? AND id = ?)`, clip(detail), ref.Project, ref.Version)
		return err
	})
	if err != nil {
		return fmt.Errorf("explaining a step of %s: %w", ref, err)
	}
	return nil
}

// endOfStep returns the end of the step that a transition leaves.
func endOfStep(t svc.Trigger, c svc.Change, now time.Time) svc.StepRun {
	end := svc.StepRun{Status: svc.StepDone, EndedAt: now, Detail: c.Detail}
	switch t { //nolint:exhaustive // every other trigger leaves a step that succeeded
	case svc.TriggerFail, svc.TriggerWakeFail, svc.TriggerDestroy:
		end.Status = svc.StepFailed
		end.Detail = cmp.Or(end.Detail, c.Error)
	}
	return end
}

// attachTimeline adds the timelines of the versions whose seq is in list.
func attachTimeline(ctx context.Context, tx *sql.Tx, list string, bySeq map[int64]*svc.Version) error {
	rows, err := collect(ctx, tx, func(s scanner) (p positioned[svc.StepRun], err error) {
		err = s.Scan(&p.seq, &p.row.Step, &p.row.Status, stamp{&p.row.StartedAt}, stamp{&p.row.EndedAt}, &p.row.Detail)
		return p, err
	}, `SELECT version_seq, step, status, started_at, ended_at, detail
		FROM timeline WHERE version_seq IN (SELECT value FROM json_each(?)) ORDER BY seq`, list)
	for _, r := range rows {
		bySeq[r.seq].Timeline = append(bySeq[r.seq].Timeline, r.row)
	}
	return err
}
