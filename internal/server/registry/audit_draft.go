package registry

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/svcctl/svcctl/internal/svc"
)

// drafted returns fn, followed by storing the audit draft of ctx if fn changed anything.
func drafted(ctx context.Context, fn func(*sql.Tx) error) func(*sql.Tx) error {
	d := svc.AuditDraftOf(ctx)
	if _, open := d.Ref(); !open {
		return fn
	}
	return func(tx *sql.Tx) error {
		was, err := totalChanges(ctx, tx)
		if err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return err
		}
		is, err := totalChanges(ctx, tx)
		if err != nil || is == was {
			return err
		}
		return putDraft(ctx, tx, d)
	}
}

// DraftAudit stores the audit draft of ctx, for a change that is not one of the registry.
func (db *DB) DraftAudit(ctx context.Context) error {
	d := svc.AuditDraftOf(ctx)
	if err := db.file.InTx(ctx, func(tx *sql.Tx) error { return putDraft(ctx, tx, d) }); err != nil {
		return fmt.Errorf("storing the draft of an audit record: %w", err)
	}
	return nil
}

// totalChanges is how many rows the connection has changed since it was opened.
func totalChanges(ctx context.Context, tx *sql.Tx) (n int64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT total_changes()`).Scan(&n)
	return n, err
}

// putDraft stores a draft with what the transaction has changed of its project and version.
func putDraft(ctx context.Context, tx *sql.Tx, d *svc.AuditDraft) error {
	ref, open := d.Ref()
	if !open {
		return nil
	}
	var p *svc.Project
	var v *svc.Version
	switch got, err := project(ctx, tx, ref.Project); {
	case err == nil:
		p = &got
	case !errors.Is(err, svc.NotFound):
		return err
	}
	if ref.Version != "" {
		switch got, err := version(ctx, tx, ref); {
		case err == nil:
			v = &got
		case !errors.Is(err, svc.NotFound):
			return err
		}
	}
	record, err := json.Marshal(d.Record(p, v))
	if err != nil {
		return fmt.Errorf("encoding the draft of an audit record: %w", err)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO audit_draft (key, record) VALUES (?, ?) ON CONFLICT DO UPDATE SET record = excluded.record`, d.Key(), string(record))
	return err
}

// settleDrafts adds the records of requests that the end of an earlier process cut off,
// with the status 0.
func (db *DB) settleDrafts(ctx context.Context) error {
	var n int
	if err := db.file.Read().QueryRowContext(ctx, `SELECT count(*) FROM audit_draft`).Scan(&n); err != nil || n == 0 {
		return err
	}
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		drafts, err := collect(ctx, tx, scanDraft, `SELECT record FROM audit_draft ORDER BY record ->> 'time', key`)
		if err != nil {
			return err
		}
		for _, a := range drafts {
			if err := addAudit(ctx, tx, a); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM audit_draft`)
		return err
	})
	if err != nil {
		return fmt.Errorf("adding audit records of an earlier process: %w", err)
	}
	return nil
}

func scanDraft(s scanner) (a svc.AuditRecord, err error) {
	var record []byte
	if err := s.Scan(&record); err != nil {
		return a, err
	}
	return a, json.Unmarshal(record, &a)
}
