package registry

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// AddAudit appends a record. Records cannot be changed or removed. It ends the draft of
// ctx, which the record replaces.
func (db *DB) AddAudit(ctx context.Context, a svc.AuditRecord) error {
	d := svc.AuditDraftOf(ctx)
	d.End()
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM audit_draft WHERE key = ?`, d.Key()); err != nil {
			return err
		}
		return addAudit(ctx, tx, a)
	})
	if err != nil {
		return fmt.Errorf("adding an audit record: %w", err)
	}
	failpoint.Hit("registry/audit/added")
	return nil
}

func addAudit(ctx context.Context, tx *sql.Tx, a svc.AuditRecord) error {
	before, err := document(a.Before)
	if err != nil {
		return fmt.Errorf("encoding an audit record: %w", err)
	}
	after, err := document(a.After)
	if err != nil {
		return fmt.Errorf("encoding an audit record: %w", err)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO audit
		(created_at, role, token, fingerprint, actor, client, action, project_id, version_id, status, before, after, reason, request_id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		millis(a.Time), a.Actor.Role, a.Actor.Token, a.Actor.Fingerprint, a.Actor.Name, a.Actor.Client, a.Action, a.Project, a.Version,
		a.Status, before, after, a.Reason, a.RequestID)
	if err != nil {
		return err
	}
	return addEvent(ctx, tx, auditEvent(a))
}

// auditEvent is the event of a record.
func auditEvent(a svc.AuditRecord) svc.FeedEvent {
	return svc.FeedEvent{Type: svc.FeedAudit, Project: a.Project, Version: a.Version, Time: time.Now(), Data: svc.FeedData{
		Action: a.Action, Actor: cmp.Or(a.Actor.Name, a.Actor.Token), Status: strconv.Itoa(a.Status), Detail: a.Reason,
	}}
}

// document writes fields as a JSON object, {} for none.
func document(fields map[string]any) (string, error) {
	if fields == nil {
		fields = map[string]any{}
	}
	b, err := json.Marshal(fields)
	return string(b), err
}

func scanAudit(s scanner) (p positioned[svc.AuditRecord], err error) {
	a := &p.row
	var before, after []byte
	err = s.Scan(&a.ID, stamp{&a.Time}, &a.Actor.Role, &a.Actor.Token, &a.Actor.Fingerprint, &a.Actor.Name, &a.Actor.Client, &a.Action,
		&a.Project, &a.Version, &a.Status, &before, &after, &a.Reason, &a.RequestID)
	if err == nil {
		err = json.Unmarshal(before, &a.Before)
	}
	if err == nil {
		err = json.Unmarshal(after, &a.After)
	}
	p.seq = a.ID
	return p, err
}

// ListAudit returns a page of the records that f selects, newest first.
func (db *DB) ListAudit(ctx context.Context, f svc.AuditFilter, req svc.PageRequest) (svc.Page[svc.AuditRecord], error) {
	before, limit := windowOf(req)
	since := int64(0)
	if !f.Since.IsZero() {
		since = f.Since.UnixMilli()
	}
	rows, err := collect(ctx, db.file.Read(), scanAudit, `SELECT id, created_at, role, token, fingerprint, actor, client, action, project_id, version_id,
		status, before, after, reason, request_id FROM audit
		WHERE id < ?1 AND created_at >= ?2 AND ?3 IN ('', project_id) AND ?4 IN ('', version_id) AND ?5 IN ('', action)
		ORDER BY id DESC LIMIT ?6`, before, since, f.Project, f.Version, f.Action, limit)
	if err != nil {
		return svc.Page[svc.AuditRecord]{}, fmt.Errorf("listing audit records: %w", err)
	}
	return cut(rows, req), nil
}
