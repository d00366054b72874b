package registry

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/svcctl/svcctl/internal/sqlite"
)

//go:embed migration/*.sql
var migrations embed.FS

// applicationID is "svcR": it marks a file as a registry.
const applicationID = 0x73766352

// DB is an open registry.
type DB struct {
	file *sqlite.DB
}

// Open opens the registry at path, creates it when it is missing, and
// migrates it to this program's version. It refuses the file of a newer
// program (sqlite.ErrNewer) and a file that is no registry
// (sqlite.ErrForeign).
func Open(ctx context.Context, path string) (*DB, error) {
	files, err := fs.Sub(migrations, "migration")
	if err != nil {
		return nil, fmt.Errorf("opening the registry: %w", err)
	}
	file, err := sqlite.Open(ctx, path, sqlite.Options{Synchronous: sqlite.Full})
	if err != nil {
		return nil, fmt.Errorf("opening the registry: %w", err)
	}
	schema := sqlite.Schema{Name: "registry", ApplicationID: applicationID, Files: files}
	if err := schema.Migrate(ctx, file); err != nil {
		_ = file.Close() // the migration's error says more
		return nil, err
	}
	return &DB{file: file}, nil
}

// Close waits for running calls and closes the file.
func (db *DB) Close() error { return db.file.Close() }

// Ping proves that the file can be read and that the write lock can be had.
// It changes nothing.
func (db *DB) Ping(ctx context.Context) error {
	return db.file.InTx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "SELECT seq FROM projects LIMIT 1")
		return err
	})
}
