package registry

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const webhookColumns = `id, project_id, url, events, format, generation, rotated_at, cursor, created_at, created_by, ended_at`

func scanWebhook(s scanner) (w svc.Webhook, err error) {
	var events []byte
	if err = s.Scan(&w.ID, &w.Project, &w.URL, &events, &w.Format, &w.Generation, stamp{&w.RotatedAt}, &w.Cursor, stamp{&w.CreatedAt}, &w.CreatedBy, stamp{&w.EndedAt}); err != nil {
		return w, err
	}
	return w, json.Unmarshal(events, &w.Events)
}

// AddWebhook stores a webhook. Errors: Unprocessable, webhooks_too_many.
func (db *DB) AddWebhook(ctx context.Context, w svc.Webhook) error {
	events, err := json.Marshal(w.Events)
	if err != nil {
		return err
	}
	return db.file.InTx(ctx, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM webhooks`).Scan(&n); err != nil {
			return err
		}
		if n >= svc.MaxWebhooks {
			return svc.Errorf(svc.Unprocessable, svc.CodeWebhooksTooMany, "the server has %d webhooks; at most %d are allowed", n, svc.MaxWebhooks).
				WithHint("remove one: svcctl webhooks remove ID")
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO webhooks (`+webhookColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			w.ID, w.Project, w.URL, string(events), w.Format, w.Generation, millis(w.RotatedAt), w.Cursor, millis(w.CreatedAt), w.CreatedBy, millis(w.EndedAt))
		return err
	})
}

// Webhooks returns all webhooks, oldest first.
func (db *DB) Webhooks(ctx context.Context) ([]svc.Webhook, error) {
	return collect(ctx, db.file.Read(), scanWebhook, `SELECT `+webhookColumns+` FROM webhooks ORDER BY seq`)
}

// Webhook returns a webhook. Errors: NotFound, webhook_not_found.
func (db *DB) Webhook(ctx context.Context, id string) (svc.Webhook, error) {
	return webhook(ctx, db.file.Read(), id)
}

func webhook(ctx context.Context, q querier, id string) (svc.Webhook, error) {
	w, err := scanWebhook(q.QueryRowContext(ctx, `SELECT `+webhookColumns+` FROM webhooks WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return w, svc.Errorf(svc.NotFound, svc.CodeWebhookNotFound, "there is no webhook %q", id).WithHint("list the webhooks: svcctl webhooks list")
	}
	return w, err
}

// RemoveWebhook removes a webhook and its deliveries. Errors: NotFound, webhook_not_found.
func (db *DB) RemoveWebhook(ctx context.Context, id string) error {
	return db.onWebhook(ctx, id, func(tx *sql.Tx) error { return removeWebhooks(ctx, tx, `id = ?`, id) })
}

func removeWebhooks(ctx context.Context, tx *sql.Tx, where string, args ...any) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM webhook_deliveries WHERE webhook_id IN (SELECT id FROM webhooks WHERE `+where+`)`, args...); err != nil { //nolint:gosec // constant text
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM webhooks WHERE `+where, args...) //nolint:gosec // constant text
	return err
}

func (db *DB) onWebhook(ctx context.Context, id string, do func(*sql.Tx) error) error {
	return db.file.InTx(ctx, func(tx *sql.Tx) error {
		if _, err := webhook(ctx, tx, id); err != nil {
			return err
		}
		return do(tx)
	})
}

// RotateWebhook begins the next generation of a webhook's secret. Errors: NotFound, webhook_not_found.
func (db *DB) RotateWebhook(ctx context.Context, id string, at time.Time) (w svc.Webhook, err error) {
	err = db.onWebhook(ctx, id, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE webhooks SET generation = generation + 1, rotated_at = ? WHERE id = ?`, millis(at), id); err != nil {
			return err
		}
		w, err = webhook(ctx, tx, id)
		return err
	})
	return w, err
}

// EndWebhook records that the receiver of a webhook is gone, and ends the deliveries that wait.
func (db *DB) EndWebhook(ctx context.Context, id string, at time.Time) error {
	return db.onWebhook(ctx, id, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE webhooks SET ended_at = ? WHERE id = ?`, millis(at), id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE webhook_deliveries SET next_at = NULL WHERE webhook_id = ?`, id)
		return err
	})
}

const deliveryColumns = `id, webhook_id, type, body, created_at, attempts, next_at, delivered, status, answer, error, tried_at`

func scanDelivery(s scanner) (d svc.WebhookDelivery, err error) {
	err = s.Scan(&d.ID, &d.Webhook, &d.Type, &d.Body, stamp{&d.CreatedAt}, &d.Attempts, stamp{&d.NextAt}, &d.Delivered, &d.Status, &d.Answer, &d.Error, stamp{&d.TriedAt})
	return d, err
}

// AddDeliveries adds deliveries and moves the cursors of all webhooks to an event. Those of webhooks that
// were removed meanwhile are left out.
func (db *DB) AddDeliveries(ctx context.Context, list []svc.WebhookDelivery, cursor int64) error {
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		for _, d := range list {
			if _, err := tx.ExecContext(ctx, `INSERT INTO webhook_deliveries (`+deliveryColumns+`)
				SELECT ?, ?2, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM webhooks WHERE id = ?2)`,
				d.ID, d.Webhook, d.Type, d.Body, millis(d.CreatedAt), d.Attempts, millis(d.NextAt), d.Delivered, d.Status, d.Answer, d.Error, millis(d.TriedAt)); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `UPDATE webhooks SET cursor = ?1 WHERE cursor < ?1`, cursor)
		return err
	})
	if err != nil {
		return fmt.Errorf("adding deliveries of webhooks: %w", err)
	}
	return nil
}

// Deliveries returns a page of the deliveries of a webhook, newest first.
func (db *DB) Deliveries(ctx context.Context, id string, req svc.PageRequest) (svc.Page[svc.WebhookDelivery], error) {
	before, limit := windowOf(req)
	rows, err := collect(ctx, db.file.Read(), func(s scanner) (p positioned[svc.WebhookDelivery], err error) {
		d := &p.row
		err = s.Scan(&p.seq, &d.ID, &d.Webhook, &d.Type, &d.Body, stamp{&d.CreatedAt}, &d.Attempts, stamp{&d.NextAt}, &d.Delivered, &d.Status, &d.Answer, &d.Error, stamp{&d.TriedAt})
		return p, err
	}, `SELECT seq, `+deliveryColumns+` FROM webhook_deliveries WHERE webhook_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`, id, before, limit)
	if err != nil {
		return svc.Page[svc.WebhookDelivery]{}, fmt.Errorf("listing deliveries of %s: %w", id, err)
	}
	return cut(rows, req), nil
}

// Delivery returns a delivery. Errors: NotFound, delivery_not_found.
func (db *DB) Delivery(ctx context.Context, webhook, id string) (svc.WebhookDelivery, error) {
	d, err := scanDelivery(db.file.Read().QueryRowContext(ctx, `SELECT `+deliveryColumns+` FROM webhook_deliveries WHERE webhook_id = ? AND id = ?`, webhook, id))
	if errors.Is(err, sql.ErrNoRows) {
		return d, svc.Errorf(svc.NotFound, svc.CodeDeliveryNotFound, "the webhook %s has no delivery %q", webhook, id).WithHint("list them: svcctl webhooks deliveries %s", webhook)
	}
	return d, err
}

// SaveDelivery stores what came of a delivery. One that was removed meanwhile stays removed.
func (db *DB) SaveDelivery(ctx context.Context, d svc.WebhookDelivery) error {
	return db.file.InTx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE webhook_deliveries SET attempts = ?, next_at = ?, delivered = ?, status = ?, answer = ?, error = ?, tried_at = ? WHERE id = ?`,
			d.Attempts, millis(d.NextAt), d.Delivered, d.Status, d.Answer, d.Error, millis(d.TriedAt), d.ID)
		return err
	})
}

// DueDeliveries returns the deliveries whose next try is due, the longest due first, and when the next
// one will be; zero for none.
func (db *DB) DueDeliveries(ctx context.Context, now time.Time, limit int) (due []svc.WebhookDelivery, next time.Time, err error) {
	due, err = collect(ctx, db.file.Read(), scanDelivery, `SELECT `+deliveryColumns+` FROM webhook_deliveries WHERE next_at <= ? ORDER BY next_at, seq LIMIT ?`, millis(now), limit)
	if err == nil {
		err = db.file.Read().QueryRowContext(ctx, `SELECT min(next_at) FROM webhook_deliveries WHERE next_at > ?`, millis(now)).Scan(stamp{&next})
	}
	return due, next, err
}

// TrimDeliveries deletes the deliveries from before a time that have ended.
func (db *DB) TrimDeliveries(ctx context.Context, before time.Time) error {
	old := false
	err := db.file.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM webhook_deliveries WHERE created_at < ? AND next_at IS NULL)`, millis(before)).Scan(&old)
	if err != nil || !old {
		return err
	}
	return db.file.InTx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM webhook_deliveries WHERE created_at < ? AND next_at IS NULL`, millis(before))
		return err
	})
}

// WasProduction reports whether a version was production before an operation began.
func (db *DB) WasProduction(ctx context.Context, ref svc.Ref, operation string) (was bool, err error) {
	err = db.file.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM promotions WHERE project_id = ?1 AND status = 'done'
		AND (version_id = ?2 OR previous_id = ?2) AND seq < (SELECT seq FROM promotions WHERE id = ?3))`, ref.Project, ref.Version, operation).Scan(&was)
	return was, err
}
