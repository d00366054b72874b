package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/lib/saga"
	"github.com/svcctl/svcctl/internal/svc"
)

// Journal returns the saga's journal of the promotion with this operation id.
// svc.Promotion.Steps is derived from it.
func (db *DB) Journal(opID string) saga.Journal { //nolint:ireturn // services declare this interface
	return journal{db: db, op: opID}
}

type journal struct {
	db *DB
	op string
}

// Record implements saga.Journal. It returns NotFound for an unknown operation.
func (j journal) Record(ctx context.Context, e saga.Entry) error {
	err := j.db.file.InTx(ctx, func(tx *sql.Tx) error {
		n, err := affected(ctx, tx, `INSERT INTO promotion_journal (promotion_seq, step, phase, detail, created_at)
			SELECT seq, ?, ?, ?, ? FROM promotions WHERE id = ?`,
			e.Step, e.Phase, clip(causeText(e.Cause)), millis(time.Now()), j.op)
		if err == nil && n == 0 {
			err = svc.Errorf(svc.NotFound, svc.CodePromotionNotFound, "there is no promotion %q", j.op)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("journal of promotion %s: %w", j.op, err)
	}
	return nil
}

// causeText returns the text of err for clients, without its cause.
func causeText(err error) string {
	if err == nil {
		return ""
	}
	e := *svc.AsError(err)
	e.Err = nil
	return e.Code + ": " + e.Error()
}

// Steps implements saga.Journal.
func (j journal) Steps(ctx context.Context) ([]saga.Entry, error) {
	entries, err := collect(ctx, j.db.file.Read(), func(s scanner) (e saga.Entry, err error) {
		var detail string
		if err = s.Scan(&e.Step, &e.Phase, &detail); err == nil && detail != "" {
			e.Cause = errors.New(detail)
		}
		return e, err
	}, `SELECT j.step, j.phase, j.detail FROM promotion_journal j JOIN promotions p ON p.seq = j.promotion_seq
		WHERE p.id = ? ORDER BY j.seq`, j.op)
	if err != nil {
		return nil, fmt.Errorf("journal of promotion %s: %w", j.op, err)
	}
	return entries, nil
}

// line is one row of the journal.
type line struct {
	step, detail string
	phase        saga.Phase
	at           time.Time
}

// steps reads the journal of a promotion as the steps that clients see.
func steps(ctx context.Context, tx *sql.Tx, promotion int64) ([]svc.StepRun, error) {
	lines, err := collect(ctx, tx, func(s scanner) (l line, err error) {
		err = s.Scan(&l.step, &l.phase, &l.detail, stamp{&l.at})
		return l, err
	}, `SELECT step, phase, detail, created_at FROM promotion_journal WHERE promotion_seq = ? ORDER BY seq`, promotion)
	return fold(lines), err
}

// fold returns one run per step, in the order in which they started. A failed step
// stays failed when it is undone, so that clients see the failure.
func fold(lines []line) []svc.StepRun {
	var runs []svc.StepRun
	for _, l := range lines {
		i := slices.IndexFunc(runs, func(r svc.StepRun) bool { return r.Step == l.step })
		if i < 0 {
			i = len(runs)
			runs = append(runs, svc.StepRun{Step: l.step, Status: svc.StepRunning, StartedAt: l.at})
		}
		r := &runs[i]
		switch l.phase {
		case saga.Started: // repeated after a crash: the first start counts
		case saga.Done:
			r.Status, r.EndedAt = svc.StepDone, l.at
		case saga.Failed:
			r.Status, r.EndedAt, r.Detail = svc.StepFailed, l.at, l.detail
		case saga.Undone:
			if r.Status != svc.StepFailed {
				r.Status, r.EndedAt = svc.StepUndone, l.at
			}
		}
	}
	return runs
}
