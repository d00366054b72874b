package registry

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// keyLifetime is the time after which an Idempotency-Key expires [D9].
const keyLifetime = 24 * time.Hour

// recall returns the id of the version that an earlier request with the same key
// created; "" if there was no such request. A key is valid within one project.
func (c create) recall(ctx context.Context) (id string, err error) {
	if c.o.IdempotencyKey == "" {
		return "", nil
	}
	var hash string
	err = c.tx.QueryRowContext(ctx, `SELECT version_id, body_hash FROM idempotency WHERE project_id = ? AND key = ? AND created_at > ?`,
		c.n.Project, c.o.IdempotencyKey, millis(c.now.Add(-keyLifetime))).Scan(&id, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err == nil && hash != c.o.BodyHash {
		return "", svc.Errorf(svc.Unprocessable, svc.CodeIdempotencyMismatch, "Idempotency-Key was already used with a different body").
			WithHint("use a new key for a new request")
	}
	return id, err
}

// remember stores the request's key with the version and deletes expired keys.
func (c create) remember(ctx context.Context, id string) error {
	if c.o.IdempotencyKey == "" {
		return nil
	}
	if _, err := c.tx.ExecContext(ctx, `DELETE FROM idempotency WHERE created_at <= ?`, millis(c.now.Add(-keyLifetime))); err != nil {
		return err
	}
	_, err := c.tx.ExecContext(ctx, `INSERT INTO idempotency (project_id, key, body_hash, version_id, created_at) VALUES (?, ?, ?, ?, ?)`,
		c.n.Project, c.o.IdempotencyKey, c.o.BodyHash, id, millis(c.now))
	return err
}
