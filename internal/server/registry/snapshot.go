package registry

import "context"

// Snapshot returns the file as of its last write, for a backup.
func (db *DB) Snapshot(ctx context.Context) ([]byte, error) { return db.file.Snapshot(ctx) }
