package registry

import (
	"context"
	"io/fs"
)

// SchemaVersion returns the version of the schema that this program writes, and the newest
// that it opens.
func SchemaVersion() int {
	files, err := fs.Glob(migrations, "migration/*.sql")
	if err != nil {
		panic(err) // the pattern is constant
	}
	return len(files)
}

// Snapshot returns the file as of its last write, for a backup.
func (db *DB) Snapshot(ctx context.Context) ([]byte, error) { return db.file.Snapshot(ctx) }
