package registry

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// WatchedPromotions returns the releases that are still watched, oldest first.
func (db *DB) WatchedPromotions(ctx context.Context) ([]svc.Promotion, error) {
	rows, err := db.promotions(ctx, `WHERE watch <> '{}' AND watch ->> 'state' = ? ORDER BY seq`, svc.WatchWatching)
	if err != nil {
		return nil, fmt.Errorf("listing the watches of releases: %w", err)
	}
	all := make([]svc.Promotion, len(rows))
	for i, r := range rows {
		all[i] = r.row
	}
	return all, nil
}

// SetWatch stores the watch of a release, and adds an event.
func (db *DB) SetWatch(ctx context.Context, op svc.Promotion, w svc.Watch) error {
	w.Detail = clip(w.Detail)
	text, err := json.Marshal(w)
	if err == nil {
		err = db.file.InTx(ctx, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, `UPDATE promotions SET watch = ? WHERE id = ?`, string(text), op.ID); err != nil {
				return err
			}
			return addEvent(ctx, tx, svc.FeedEvent{Type: svc.FeedWatch, Project: op.Project, Version: op.Version, Time: time.Now(), Data: svc.FeedData{
				Status: string(w.State), Detail: w.Detail, Operation: op.ID,
			}})
		})
	}
	if err != nil {
		return fmt.Errorf("storing the watch of release %s: %w", op.ID, err)
	}
	return nil
}
