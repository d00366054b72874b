package dataplane

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/lib/backoff"
)

const (
	// keptWAL is the length to which a WAL may stay. The engine keeps the file at the
	// longest that it ever had, also for a transaction that was rolled back; it merges a
	// committed one into the database at 4 MiB.
	keptWAL   = 16 << 20 // bytes
	trimRetry = time.Second
)

// trimLater truncates a WAL that has become long in the background, after the writer is free.
func (db *database) trimLater() {
	v := db.volumes
	if db.file.WALSize() <= keptWAL || db.trimming.Swap(true) {
		return
	}
	v.work.Go(func() {
		defer db.trimming.Store(false)
		for !db.trim(v.background) && backoff.Sleep(v.background, trimRetry) == nil {
		}
	})
}

// trim merges the WAL into the database and truncates it. It reports false if it should be
// tried again: a reader uses the WAL, or a child copies it.
func (db *database) trim(ctx context.Context) bool {
	select {
	case <-db.done:
		return true // closing the database deletes the WAL
	case <-ctx.Done():
		return true
	case c := <-db.writer:
		defer func() { db.writer <- c }()
		if db.closing() != nil || db.file.WALSize() <= keptWAL {
			return true
		}
		if err := truncateWAL(c); err != nil {
			db.volumes.cfg.Logger.WarnContext(ctx, "truncating the WAL failed; retrying", "database", db.name, "error", err, "retry_in", trimRetry)
			return false
		}
		return db.file.WALSize() == 0
	}
}

// truncateWAL does not wait for readers: writers would wait with it.
func truncateWAL(c *raw.Conn) error {
	if err := c.Script("PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	err := c.Script("PRAGMA wal_checkpoint(TRUNCATE)")
	return errors.Join(err, c.Script("PRAGMA busy_timeout = "+strconv.FormatInt(busyTimeout.Milliseconds(), 10)))
}
