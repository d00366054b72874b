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

const selectEvent = `SELECT id, type, project_id, version_id, data, created_at FROM events `

func scanEvent(s scanner) (e svc.FeedEvent, err error) {
	var data []byte
	if err = s.Scan(&e.ID, &e.Type, &e.Project, &e.Version, &data, stamp{&e.Time}); err != nil {
		return e, err
	}
	return e, json.Unmarshal(data, &e.Data)
}

// AddEvents appends events in one transaction and sets their order. Changes of the
// registry's own records add theirs by triggers (migration 0005).
func (db *DB) AddEvents(ctx context.Context, events []svc.FeedEvent) error {
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		for _, e := range events {
			if err := addEvent(ctx, tx, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("adding events: %w", err)
	}
	return nil
}

// addEvent appends an event in the transaction of the change that it tells.
func addEvent(ctx context.Context, tx *sql.Tx, e svc.FeedEvent) error {
	e.Data.Detail, e.Data.Error = clip(e.Data.Detail), clip(e.Data.Error)
	data, err := json.Marshal(e.Data)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO events (type, project_id, version_id, data, created_at) VALUES (?, ?, ?, ?, ?)`,
		e.Type, e.Project, e.Version, string(data), millis(e.Time))
	return err
}

// LastEvent returns the id of the newest event that ever was; 0 without one.
func (db *DB) LastEvent(ctx context.Context) (int64, error) {
	last, err := lastEvent(ctx, db.file.Read())
	if err != nil {
		return 0, fmt.Errorf("reading the last event: %w", err)
	}
	return last, nil
}

func lastEvent(ctx context.Context, q querier) (last int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT seq FROM sqlite_sequence WHERE name = 'events'`).Scan(&last)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return last, err
}

// EventsAfter returns at most limit events that follow the event after, oldest first.
//
// Errors: Gone, cursor_expired, if some of them are no longer kept, or if the
// registry never had the event after.
func (db *DB) EventsAfter(ctx context.Context, after int64, limit int) (events []svc.FeedEvent, err error) {
	err = db.file.InReadTx(ctx, func(tx *sql.Tx) error {
		last, err := lastEvent(ctx, tx)
		if err != nil || last == after {
			return err
		}
		if events, err = collect(ctx, tx, scanEvent, selectEvent+`WHERE id > ? ORDER BY id LIMIT ?`, after, limit); err != nil {
			return err
		}
		if len(events) == 0 || events[0].ID != after+1 { // ids have no gaps but those of TrimEvents
			return svc.Errorf(svc.Gone, svc.CodeCursorExpired, "the events after the cursor %d are no longer kept", after).
				WithHint("read the lists again, and continue without a cursor")
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	return events, nil
}

// EventsBefore returns at most limit events that precede the event before, newest
// first. It returns fewer when older ones are no longer kept.
func (db *DB) EventsBefore(ctx context.Context, before int64, limit int) ([]svc.FeedEvent, error) {
	events, err := collect(ctx, db.file.Read(), scanEvent, selectEvent+`WHERE id < ? ORDER BY id DESC LIMIT ?`, before, limit)
	if err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	return events, nil
}

// TrimEvents deletes the events until the last one that is older than before, and all
// but the newest keep events.
func (db *DB) TrimEvents(ctx context.Context, before time.Time, keep int) error {
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM events WHERE id <= max(
			coalesce((SELECT max(id) FROM events WHERE created_at < ?1), 0),
			coalesce((SELECT max(id) FROM events), 0) - ?2)`, millis(before), keep)
		return err
	})
	if err != nil {
		return fmt.Errorf("deleting old events: %w", err)
	}
	return nil
}
