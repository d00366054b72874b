package registry

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/svcctl/svcctl/internal/data/sqlite"
	"github.com/svcctl/svcctl/internal/lib/machine"
	"github.com/svcctl/svcctl/internal/svc"
)

//go:embed migration/*.sql
var migrations embed.FS

// applicationID marks a file as a registry: "svcR".
const applicationID = 0x73766352

const dirMode = 0o700

// keptCopies is the number of copies from before migrations that stay beside the file.
const keptCopies = 3

// DB is an open registry.
type DB struct {
	file *watchedFile
	lock *flock.Flock
}

// Open opens the registry at path, creates it and its directory if they are missing,
// and migrates it to this program's version. It returns sqlite.ErrNewer for the file
// of a newer program, sqlite.ErrForeign for a file that is not a registry,
// Unprocessable format_older for that of a program before version 0.1.0, and
// Conflict registry_in_use if another process has it open.
func Open(ctx context.Context, path string) (*DB, error) { return open(ctx, path, sqlite.Full) }

// OpenNoSync is Open for watch mode: a commit returns before it is on the disk. A failure
// of the power may lose the commits of the last half minute, the last ones first.
func OpenNoSync(ctx context.Context, path string) (*DB, error) {
	return open(ctx, path, sqlite.Normal)
}

func open(ctx context.Context, path string, sync sqlite.Synchronous) (*DB, error) {
	if err := CheckFile(path); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return nil, fmt.Errorf("creating the directory of the registry %s: %w", path, err)
	}
	lock, err := lockFile(path)
	if err != nil {
		return nil, err
	}
	file, err := openFile(ctx, path, sync)
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	db := &DB{file: watch(file), lock: lock}
	if err := db.settleDrafts(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// lockFile excludes a second daemon, which would resume the jobs and versions of
// the first.
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
		return nil, svc.Errorf(svc.Conflict, svc.CodeRegistryInUse, "another daemon uses the registry %s", path).
			WithHint("stop the other daemon, or set another SVC_REGISTRY_DB")
	}
	return lock, nil
}

func openFile(ctx context.Context, path string, sync sqlite.Synchronous) (*sqlite.DB, error) {
	files, err := fs.Sub(migrations, "migration")
	if err != nil {
		return nil, fmt.Errorf("opening the registry: %w", err)
	}
	file, err := sqlite.Open(ctx, path, sqlite.Options{Synchronous: sync})
	if err != nil {
		return nil, fmt.Errorf("opening the registry: %w", err)
	}
	schema := sqlite.Schema{Name: "registry", ApplicationID: applicationID, First: firstSchema, Files: files, Keep: keptCopies}
	if err := schema.Migrate(ctx, file); err != nil {
		_ = file.Close() // the error of the migration is the cause
		return nil, err
	}
	return file, nil
}

// Close waits for running calls and closes the file.
func (db *DB) Close() error { return errors.Join(db.file.Close(), db.lock.Unlock()) }

// Ping checks that the file can be read, that the write lock is available, and that
// the disk has free space, else its error is syscall.ENOSPC. It changes nothing.
func (db *DB) Ping(ctx context.Context) error {
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "SELECT seq FROM projects LIMIT 1")
		return err
	})
	if err != nil {
		return err
	}
	return room(filepath.Dir(db.file.Path()))
}

// minRoom is the free space in bytes below which a disk counts as full.
const minRoom = 1 << 20

// room returns syscall.ENOSPC if the disk of dir is full. A test write would not
// detect this: it can reuse free blocks of the file.
func room(dir string) error {
	disk, err := machine.DiskOf(dir)
	if err != nil {
		return err
	}
	if disk.Free < minRoom {
		return fmt.Errorf("the disk of %s: %w", dir, syscall.ENOSPC)
	}
	return nil
}
