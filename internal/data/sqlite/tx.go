package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// InTx runs fn in a write transaction and commits it when fn returns nil. On an error,
// a panic or the end of ctx it rolls back. InTx returns fn's own error unchanged; on a
// full disk it is also syscall.ENOSPC.
func (db *DB) InTx(ctx context.Context, fn func(*sql.Tx) error) error {
	return orFull(inTx(ctx, db.write, nil, fn))
}

// InReadTx runs fn on one snapshot of the database. Writing in it fails.
func (db *DB) InReadTx(ctx context.Context, fn func(*sql.Tx) error) error {
	return inTx(ctx, db.read, &sql.TxOptions{ReadOnly: true}, fn)
}

func inTx(ctx context.Context, pool *sql.DB, o *sql.TxOptions, fn func(*sql.Tx) error) error {
	tx, err := pool.BeginTx(ctx, o)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}
