package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	modernc "modernc.org/sqlite"
)

// Synchronous is how hard a commit is pressed onto the disk.
type Synchronous string

// With Full a commit that returned survives a power failure. With Normal it
// survives the death of the process, and a power failure may take the last
// commits back, never tear them.
const (
	Full   Synchronous = "FULL"
	Normal Synchronous = "NORMAL"
)

// The defaults of Options.
const (
	DefaultReaders     = 4
	DefaultBusyTimeout = 10 * time.Second
)

// Options say how to open a file. The zero value is the safe choice.
type Options struct {
	Synchronous Synchronous   // "" = Full
	Readers     int           // connections of the read pool; 0 = DefaultReaders
	BusyTimeout time.Duration // how long to wait for another process's lock; 0 = DefaultBusyTimeout
}

// DB is one open database file.
type DB struct {
	path  string
	write *sql.DB // one connection
	read  *sql.DB // a pool of connections that cannot write
}

// Open opens the file at path and creates it, 0600, when it is missing. Its
// folder must exist. A file that is not a database is refused.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	if err := create(path); err != nil {
		return nil, fmt.Errorf("opening the database %s: %w", path, err)
	}
	db := &DB{path: path}
	if db.write, err = connect(o.dsn(path, "immediate", false), 1); err != nil {
		return nil, err
	}
	if db.read, err = connect(o.dsn(path, "deferred", true), cmp.Or(o.Readers, DefaultReaders)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	// The writer goes first: it is the one that turns the file to WAL.
	for _, pool := range []*sql.DB{db.write, db.read} {
		if err := probe(ctx, pool); err != nil {
			return nil, errors.Join(fmt.Errorf("opening the database %s: %w", path, err), db.Close())
		}
	}
	return db, nil
}

// create makes an empty file that only its owner may read: SQLite gives its
// WAL and shared-memory files the same mode.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // do not even open it: closing would drop the locks of another handle in this process
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func connect(dsn string, conns int) (*sql.DB, error) {
	c, err := modernc.NewConnector(dsn)
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	pool := sql.OpenDB(c)
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	return pool, nil
}

// probe makes the pool connect and read the file's first page.
func probe(ctx context.Context, pool *sql.DB) error {
	var version int
	return pool.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
}

func (o Options) dsn(path, txlock string, queryOnly bool) string {
	q := url.Values{
		"_busy_timeout": {strconv.FormatInt(cmp.Or(o.BusyTimeout, DefaultBusyTimeout).Milliseconds(), 10)},
		"_foreign_keys": {"on"},
		"_synchronous":  {string(cmp.Or(o.Synchronous, Full))},
		"_txlock":       {txlock},
		"_dqs":          {"false"},
		"_error_rc":     {"true"},
	}
	if queryOnly {
		q.Set("_query_only", "on")
	} else {
		q.Set("_journal_mode", "WAL")
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}
	return u.String()
}

// Path is the absolute path of the file.
func (db *DB) Path() string { return db.path }

// Read is the pool of readers, for single statements. For several that must
// see one state use InReadTx.
func (db *DB) Read() *sql.DB { return db.read }

// Close waits for running statements and closes the file. The writer goes
// last, so that its close folds the WAL into the file.
func (db *DB) Close() error {
	var err error
	if db.read != nil {
		err = db.read.Close()
	}
	return errors.Join(err, db.write.Close())
}
