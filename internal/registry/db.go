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
	"golang.org/x/sys/unix"

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

// Ping proves that the file can be read, that the write lock can be had, and that
// the disk has room: else it is syscall.ENOSPC. It changes nothing.
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

// minRoom is how much of a disk must be free, in bytes, to call it well.
const minRoom = 1 << 20

// room looks at what is free of the disk under dir. To write something would not
// tell: a file that was longer before takes no new blocks.
func room(dir string) error {
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return fmt.Errorf("asking for the room on the disk: %w", err)
	}
	free := disk.Bavail
	if os.Geteuid() == 0 {
		free = disk.Bfree // some is kept for it
	}
	if free*uint64(disk.Bsize) < minRoom { //nolint:gosec // a block has a size
		return fmt.Errorf("the disk of %s: %w", dir, syscall.ENOSPC)
	}
	return nil
}
