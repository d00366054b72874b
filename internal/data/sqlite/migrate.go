package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// ErrNewer marks a file that a newer program has migrated.
var ErrNewer = errors.New("the file was written by a newer program")

// ErrOlder marks a file with a schema from before the first one of this program.
var ErrOlder = errors.New("the file was written by a program that is too old")

// ErrForeign marks a file of another kind or another program.
var ErrForeign = errors.New("the file belongs to another program")

// Schema is the list of migrations of one kind of database file.
type Schema struct {
	// Name is the kind of file in error messages: "registry".
	Name string
	// ApplicationID marks files of this kind (PRAGMA application_id). 0 accepts any
	// file.
	ApplicationID int32
	// First is the version of the first file, which makes a new database file. 0 = 1.
	First int
	// Files holds NNNN_name.sql, numbered from First without a gap. A released file
	// never changes.
	Files fs.FS
	// Keep is the number of copies PATH.schema-N that Migrate keeps of a file, one from
	// before each migration of version N. 0 makes none.
	Keep int
}

// migration is one file of a Schema.
type migration struct {
	version int
	name    string
	sql     string
}

// Migrate brings db to the newest version. Each migration runs in a transaction of its
// own, so a crash leaves a complete version. Migrate rejects a file that is newer
// (ErrNewer), older than the first version (ErrOlder) or of another kind (ErrForeign) without changing it. Foreign keys are off
// while a migration runs, so that it can rebuild tables, and checked before it
// commits.
func (s Schema) Migrate(ctx context.Context, db *DB) error {
	migrations, err := s.load()
	if err != nil {
		return fmt.Errorf("load migrations of the %s: %w", s.Name, err)
	}
	conn, err := db.write.Conn(ctx)
	if err != nil {
		return fmt.Errorf("migrate the %s: %w", s.Name, err)
	}
	defer func() { _ = conn.Close() }() // returns it to the pool
	newest := s.first() + len(migrations) - 1
	at, err := s.check(ctx, conn, newest, db.path)
	if err != nil {
		return fmt.Errorf("check the %s %s: %w", s.Name, db.path, err)
	}
	if at == newest {
		return nil
	}
	if at > 0 && s.Keep > 0 {
		if err := keep(ctx, conn, db.path, at); err != nil {
			return fmt.Errorf("copy the %s before its migration: %w", s.Name, err)
		}
	}
	if err := s.run(ctx, conn, migrations[max(at-s.first()+1, 0):]); err != nil {
		return err
	}
	if err := trim(db.path, s.Keep); err != nil {
		return fmt.Errorf("delete old copies of the %s: %w", s.Name, err)
	}
	return nil
}

func (s Schema) run(ctx context.Context, conn *sql.Conn, pending []migration) (err error) {
	if _, err := conn.ExecContext(ctx, "PRAGMA foreign_keys=off"); err != nil {
		return fmt.Errorf("migrate the %s: %w", s.Name, err)
	}
	defer func() {
		_, on := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA foreign_keys=on")
		err = errors.Join(err, on)
	}()
	for _, m := range pending {
		if err := s.apply(ctx, conn, m); err != nil {
			return fmt.Errorf("migrate the %s with %s: %w", s.Name, m.name, err)
		}
	}
	return nil
}

func (s Schema) apply(ctx context.Context, conn *sql.Conn, m migration) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	// Another process may have migrated the file: the version is read again under the lock.
	at, err := pragma(ctx, tx, "user_version")
	if err != nil || at >= m.version {
		return err
	}
	marks := fmt.Sprintf("PRAGMA user_version=%d; PRAGMA application_id=%d", m.version, s.ApplicationID)
	for _, q := range []string{m.sql, marks} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	if err := checkForeignKeys(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

func checkForeignKeys(ctx context.Context, tx *sql.Tx) error {
	var table string
	err := tx.QueryRowContext(ctx, `SELECT "table" FROM pragma_foreign_key_check LIMIT 1`).Scan(&table)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("rows of %s violate a foreign key", table)
}

// state reads version and kind of a file in one statement, since another process may
// be migrating it.
const state = `SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version, pragma_application_id`

// check reads the file's version. It rejects a file that Migrate must not change.
func (s Schema) check(ctx context.Context, q queryer, newest int, path string) (at int, err error) {
	var id, tables int
	if err := q.QueryRowContext(ctx, state).Scan(&at, &id, &tables); err != nil {
		return 0, err
	}
	empty := at == 0 && tables == 0 && id == 0
	switch {
	case s.ApplicationID != 0 && !empty && id != int(s.ApplicationID):
		return 0, fmt.Errorf("%w: application id %d, want %d: choose another path", ErrForeign, id, s.ApplicationID)
	case at > 0 && at < s.first():
		return 0, fmt.Errorf("%w: schema version %d, this program knows %d and later ones", ErrOlder, at, s.first())
	case at > newest:
		return 0, fmt.Errorf("%w: schema version %d, this program knows %d: run the newer program, or restore a backup from before the upgrade%s", ErrNewer, at, newest, usable(path, s.first(), newest))
	}
	return at, nil
}

// first is the version that the first file gives to a database file.
func (s Schema) first() int { return max(s.First, 1) }

// load reads the migrations and checks their numbering.
func (s Schema) load() ([]migration, error) {
	names, err := fs.Glob(s.Files, "*.sql") // sorted
	if err != nil {
		return nil, err
	}
	all := make([]migration, 0, len(names))
	for i, name := range names {
		number, _, ok := strings.Cut(name, "_")
		version := s.first() + i
		if n, err := strconv.Atoi(number); !ok || len(number) != 4 || err != nil || n != version {
			return nil, fmt.Errorf("migration %s: want a name that begins with %04d_", name, version)
		}
		text, err := fs.ReadFile(s.Files, name)
		if err != nil {
			return nil, err
		}
		all = append(all, migration{version: version, name: name, sql: string(text)})
	}
	return all, nil
}

// queryer is what *sql.DB, *sql.Conn and *sql.Tx share.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func pragma(ctx context.Context, q queryer, name string) (int, error) {
	return count(ctx, q, "PRAGMA "+name)
}

func count(ctx context.Context, q queryer, query string) (n int, err error) {
	err = q.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}
