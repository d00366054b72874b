package registry

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// moveVersion is the compare-and-set of every status change: the allowed sources
// (?8) come from svc.EdgeOf. updated_at always grows, because ETags are derived from
// it [D13]. ready_at is the first time, woken_at the last [D17]. ?9 protects
// production from archive and destroy [D18][D22].
const moveVersion = `UPDATE versions SET
	status     = ?1,
	updated_at = max(?2, updated_at + 1),
	error      = CASE WHEN ?3 THEN ?4 ELSE error END,
	error_output = CASE WHEN ?3 THEN ?10 ELSE error_output END,
	woken_at   = CASE WHEN ?5 AND ready_at IS NOT NULL THEN ?2 ELSE woken_at END,
	ready_at   = CASE WHEN ?5 THEN coalesce(ready_at, ?2) ELSE ready_at END,
	asleep_at  = CASE WHEN ?1 NOT IN ('archived', 'failed', 'destroyed') THEN asleep_at END,
	wake_at    = CASE WHEN ?1 IN ('ready', 'draining') THEN wake_at END
	WHERE project_id = ?6 AND id = ?7 AND status IN (SELECT value FROM json_each(?8))
		AND NOT (?9 AND id IS (SELECT prod_version_id FROM projects WHERE id = ?6))
		AND NOT (?11 AND pinned)
	RETURNING seq`

// Move changes a version's status by trigger t and returns the new record. Of
// several concurrent calls of which the state machine allows one, exactly one
// succeeds. Move writes the timeline: the open step ends as done, or as failed with
// TriggerFail, TriggerWakeFail and TriggerDestroy, and a deploy step starts a new
// row. With c.FirstProduction a version that becomes ready also becomes the
// production of a project without one, in the same transaction. spec: [C3.5]. With c.InsteadOf it
// becomes production in place of that version; another production is Precondition,
// production_moved, and nothing is changed.
//
// Errors: Conflict, invalid_transition or version_is_production; Gone,
// version_destroyed; NotFound.
func (db *DB) Move(ctx context.Context, ref svc.Ref, t svc.Trigger, c svc.Change) (v svc.Version, err error) {
	edge := svc.EdgeOf(t)
	from, err := json.Marshal(edge.From)
	if err != nil {
		return svc.Version{}, fmt.Errorf("moving %s by %s: %w", ref, t, err)
	}
	assigned := false
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		now := time.Now()
		var seq int64
		err := tx.QueryRowContext(ctx, moveVersion,
			edge.To, millis(now), t == svc.TriggerFail, clip(c.Error), t == svc.TriggerActivate,
			ref.Project, ref.Version, string(from), leavesProduction(t), clip(c.ErrorOutput), c.Unpinned).Scan(&seq)
		if errors.Is(err, sql.ErrNoRows) {
			return explainMove(ctx, tx, ref, t, c)
		}
		if err != nil {
			return err
		}
		if err := advanceTimeline(ctx, tx, seq, endOfStep(t, c, now), edge.To); err != nil {
			return err
		}
		if t == svc.TriggerActivate && c.FirstProduction {
			if assigned, err = assignFirst(ctx, tx, ref, now); err != nil {
				return err
			}
		}
		if t == svc.TriggerActivate && c.InsteadOf != "" {
			assigned = true
			if err = takeOver(ctx, tx, ref, c.InsteadOf, now); err != nil {
				return err
			}
		}
		v, err = version(ctx, tx, ref)
		return err
	})
	if err != nil {
		return svc.Version{}, fmt.Errorf("moving %s by %s: %w", ref, t, err)
	}
	if assigned {
		failpoint.Hit(productionSet)
	}
	return v, nil
}

// leavesProduction reports whether t archives or destroys a version, which must not
// happen to production.
func leavesProduction(t svc.Trigger) bool { return t == svc.TriggerArchive || t == svc.TriggerDestroy }

// explainMove returns the reason why a move changed no row.
func explainMove(ctx context.Context, tx *sql.Tx, ref svc.Ref, t svc.Trigger, c svc.Change) error {
	v, err := version(ctx, tx, ref)
	if err != nil {
		return err
	}
	if v.Status == svc.StatusDestroyed {
		return destroyed(ref)
	}
	if v.Production && leavesProduction(t) {
		return svc.Errorf(svc.Conflict, svc.CodeVersionIsProduction, "version %s is production: it cannot be %s", ref, svc.EdgeOf(t).To).
			WithHint("promote another version first")
	}
	if _, err = v.Status.After(t); err == nil && c.Unpinned && v.Pinned {
		return svc.Errorf(svc.Conflict, svc.CodeVersionPinned, "version %s has a pin", ref)
	}
	return err
}
