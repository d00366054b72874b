package registry

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/svcctl/svcctl/internal/sqlite"
	"github.com/svcctl/svcctl/internal/svc"
)

//go:embed migration/*.sql
var migrations embed.FS

// applicationID is "svcR": it marks a file as a registry.
const applicationID = 0x73766352

// DB is an open registry.
type DB struct {
	file *sqlite.DB
	lock *flock.Flock
}

// Open opens the registry at path, creates it when it is missing, and
// migrates it to this program's version. It refuses the file of a newer
// program (sqlite.ErrNewer) and a file that is no registry
// (sqlite.ErrForeign). A registry has one user: another process that has it
// open, with whichever data directory, is a Conflict registry_in_use.
func Open(ctx context.Context, path string) (*DB, error) {
	lock, err := lockFile(path)
	if err != nil {
		return nil, err
	}
	file, err := openFile(ctx, path)
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return &DB{file: file, lock: lock}, nil
}

// lockFile keeps a second daemon away, which would take the first one's jobs and
// versions for left behind.
func lockFile(path string) (*flock.Flock, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	free, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("locking the registry: %w", err)
	}
	if !free {
		return nil, svc.Errorf(svc.Conflict, "registry_in_use", "another daemon uses the registry %s", path).
			WithHint("stop it, or give this one a registry of its own with SVC_REGISTRY_DB")
	}
	return lock, nil
}

func openFile(ctx context.Context, path string) (*sqlite.DB, error) {
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
	return file, nil
}

// Close waits for running calls and closes the file.
func (db *DB) Close() error { return errors.Join(db.file.Close(), db.lock.Unlock()) }

// Ping proves that the file can be read and written, and that the disk has room:
// it writes the version of the schema, as it is, once more.
func (db *DB) Ping(ctx context.Context) error {
	return db.file.InTx(ctx, func(tx *sql.Tx) error {
		var version int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
		return err
	})
}
