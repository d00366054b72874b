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

// Synchronous is the durability of a commit.
type Synchronous string

// With Full a commit survives a power failure. With Normal it survives a crash of the
// process; a power failure may undo the last commits as a whole.
const (
	Full   Synchronous = "FULL"
	Normal Synchronous = "NORMAL"
)

// The defaults of Options.
const (
	DefaultReaders     = 4
	DefaultBusyTimeout = 10 * time.Second
)

// Options are options of Open. The zero value is the safe choice.
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

// Open opens the file at path and creates it, 0600, when it is missing. Its folder
// must exist. Open rejects a file that is not a database.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := create(path); err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	db := &DB{path: path}
	if db.write, err = connect(o.dsn(path, "immediate", false), 1); err != nil {
		return nil, err
	}
	if db.read, err = connect(o.dsn(path, "deferred", true), cmp.Or(o.Readers, DefaultReaders)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	// The writer comes first: it switches the file to WAL mode.
	for _, pool := range []*sql.DB{db.write, db.read} {
		if err := probe(ctx, pool); err != nil {
			return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), db.Close())
		}
	}
	return db, nil
}

// create makes an empty file that only its owner can read: SQLite gives the WAL and
// shared-memory files the same mode.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // opening and closing it would release the locks of another handle in this process
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func connect(dsn string, conns int) (*sql.DB, error) {
	c, err := modernc.NewConnector(dsn)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	pool := sql.OpenDB(caching{c})
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	return pool, nil
}

// probe connects the pool and reads the file's first page.
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

// Read is the pool of readers, for single statements. Use InReadTx for several that
// must see the same state.
func (db *DB) Read() *sql.DB { return db.read }

// Close waits for running statements and closes the file. The writer closes last, which
// merges the WAL into the file.
func (db *DB) Close() error {
	var err error
	if db.read != nil {
		err = db.read.Close()
	}
	return errors.Join(err, db.write.Close())
}
