package registry

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite"
	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

const selectPromotion = `SELECT seq, id, project_id, version_id, coalesce(previous_id, ''), reason, status, error, created_at, finished_at,
	held_us, window_us, left_behind, kind, candidate_id, released, watch FROM promotions `

func scanPromotion(s scanner) (positioned[svc.Promotion], error) {
	var p positioned[svc.Promotion]
	var left []byte
	err := s.Scan(&p.seq, &p.row.ID, &p.row.Project, &p.row.Version, &p.row.Previous, &p.row.Reason,
		&p.row.Status, &p.row.Error, stamp{&p.row.CreatedAt}, stamp{&p.row.FinishedAt}, micros{&p.row.CutOver.Held}, micros{&p.row.CutOver.Window}, &left,
		&p.row.Kind, &p.row.Candidate, jsonColumn{&p.row.Released}, jsonColumn{&p.row.Watch})
	if err == nil && left != nil {
		err = json.Unmarshal(left, &p.row.Left)
	}
	return p, err
}

// CreatePromotion stores a new promotion: running, or finished if p.Status is
// unchanged [D19]. The caller chooses p.ID, the operation_id; CreatePromotion sets
// CreatedAt.
//
// Errors: Conflict, promote_in_progress, if another promotion of the project runs;
// NotFound if the project or a version does not exist.
func (db *DB) CreatePromotion(ctx context.Context, p svc.Promotion) error {
	p.Status = cmp.Or(p.Status, svc.PromotionRunning)
	err := db.file.InTx(ctx, func(tx *sql.Tx) error { return insertPromotion(ctx, tx, p, time.Now()) })
	if err != nil {
		return fmt.Errorf("creating a promotion of %s: %w", p.Project, err)
	}
	failpoint.Hit("registry/promotion/created")
	return nil
}

func insertPromotion(ctx context.Context, tx *sql.Tx, p svc.Promotion, now time.Time) error {
	var finished time.Time
	if p.Status != svc.PromotionRunning {
		finished = now
	}
	watch, err := json.Marshal(p.Watch)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO promotions
		(id, project_id, version_id, previous_id, reason, status, error, created_at, finished_at, kind, candidate_id, watch)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		p.ID, p.Project, p.Version, null(p.Previous), clip(p.Reason), p.Status, clip(p.Error), millis(now), millis(finished),
		cmp.Or(p.Kind, svc.KindPromote), p.Candidate, string(watch))
	switch {
	case sqlite.IsUnique(err):
		return explainPromotion(ctx, tx, p, err)
	case sqlite.IsForeignKey(err):
		_, missing := version(ctx, tx, svc.Ref{Project: p.Project, Version: p.Version})
		return errors.Join(missing, err)
	}
	return err
}

// explainPromotion returns the reason why an insert failed.
func explainPromotion(ctx context.Context, tx *sql.Tx, p svc.Promotion, cause error) error {
	var running string
	err := tx.QueryRowContext(ctx, `SELECT version_id FROM promotions WHERE project_id = ? AND status = 'running'`, p.Project).Scan(&running)
	if errors.Is(err, sql.ErrNoRows) {
		return cause // an operation id was used twice
	}
	if err != nil {
		return err
	}
	return svc.Errorf(svc.Conflict, svc.CodePromoteInProgress, "a promotion of %s/%s is under way", p.Project, running).
		WithHint("wait until it has ended")
}

// Promotion returns one promotion with its steps, or NotFound,
// promotion_not_found.
func (db *DB) Promotion(ctx context.Context, projectID, id string) (svc.Promotion, error) {
	rows, err := db.promotions(ctx, `WHERE project_id = ? AND id = ?`, projectID, id)
	if err != nil {
		return svc.Promotion{}, fmt.Errorf("reading promotion %s: %w", id, err)
	}
	if len(rows) == 0 {
		return svc.Promotion{}, svc.Errorf(svc.NotFound, svc.CodePromotionNotFound, "project %q has no promotion %q", projectID, id)
	}
	return rows[0].row, nil
}

// RunningPromotions returns the promotions that have not ended, oldest first: at the
// start of a daemon those that a crash interrupted [D21].
func (db *DB) RunningPromotions(ctx context.Context) ([]svc.Promotion, error) {
	rows, err := db.promotions(ctx, `WHERE status = 'running' ORDER BY seq`)
	if err != nil {
		return nil, fmt.Errorf("listing running promotions: %w", err)
	}
	all := make([]svc.Promotion, len(rows))
	for i, r := range rows {
		all[i] = r.row
	}
	return all, nil
}

// ListPromotions returns a page of a project's promotions, newest first.
func (db *DB) ListPromotions(ctx context.Context, projectID string, req svc.PageRequest) (svc.Page[svc.Promotion], error) {
	if _, err := db.Project(ctx, projectID); err != nil {
		return svc.Page[svc.Promotion]{}, err
	}
	before, limit := windowOf(req)
	rows, err := db.promotions(ctx, `WHERE project_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`, projectID, before, limit)
	if err != nil {
		return svc.Page[svc.Promotion]{}, fmt.Errorf("listing promotions of %s: %w", projectID, err)
	}
	return cut(rows, req), nil
}

// FinishPromotion ends a running promotion with its outcome. It is idempotent; another
// status is a Conflict, promotion_finished.
func (db *DB) FinishPromotion(ctx context.Context, id string, o svc.PromotionOutcome) error {
	left, err := json.Marshal(o.Left)
	released, errReleased := json.Marshal(o.Released)
	watch, errWatch := json.Marshal(o.Watch)
	if err := errors.Join(err, errReleased, errWatch); err != nil {
		return fmt.Errorf("encoding promotion %s: %w", id, err)
	}
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		n, err := affected(ctx, tx, `UPDATE promotions
			SET status = ?, error = ?, finished_at = ?, held_us = nullif(?, 0), window_us = nullif(?, 0), left_behind = nullif(?, '{}'), released = ?,
			watch = coalesce(nullif(?, '{}'), watch) WHERE id = ? AND status = 'running'`,
			o.Status, clip(o.Error), millis(time.Now()), o.CutOver.Held.Microseconds(), o.CutOver.Window.Microseconds(), string(left), string(released), string(watch), id)
		if err != nil || n == 1 {
			return err
		}
		var was svc.PromotionStatus
		err = tx.QueryRowContext(ctx, `SELECT status FROM promotions WHERE id = ?`, id).Scan(&was)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return svc.Errorf(svc.NotFound, svc.CodePromotionNotFound, "there is no promotion %q", id)
		case err == nil && was != o.Status:
			return svc.Errorf(svc.Conflict, svc.CodePromotionFinished, "promotion %s has ended as %s", id, was)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("finishing promotion %s: %w", id, err)
	}
	failpoint.Hit("registry/promotion/finished")
	return nil
}

// promotions reads promotions with their steps in one read transaction.
func (db *DB) promotions(ctx context.Context, where string, args ...any) (rows []positioned[svc.Promotion], err error) {
	err = db.file.InReadTx(ctx, func(tx *sql.Tx) error {
		if rows, err = collect(ctx, tx, scanPromotion, selectPromotion+where, args...); err != nil {
			return err
		}
		for i := range rows {
			if rows[i].row.Steps, err = steps(ctx, tx, rows[i].seq); err != nil {
				return err
			}
		}
		return nil
	})
	return rows, err
}
