package raw

import (
	"context"
	"fmt"
	"net/url"
	"sync/atomic"
	"time"
	"unsafe"

	"modernc.org/libc"
	_ "modernc.org/sqlite" // initializes the engine
	lib "modernc.org/sqlite/lib"
)

// progressOps is the number of virtual machine steps between checks for an
// interruption: about a tenth of a millisecond.
const progressOps = 4000

// Options are options of Open.
type Options struct {
	ReadOnly    bool
	Immutable   bool          // read-only, and no process changes the file: the engine takes no lock and looks for no WAL
	VFS         string        // "" for the operating system's
	BusyTimeout time.Duration // how long to wait for another connection's lock
	Statements  int           // how many prepared statements to keep; 0 means 64
	// StablePlans keeps the plan of a statement whatever its parameters are. The engine
	// compiles some statements again for each run otherwise: all with a condition on a column
	// of a partial index. LIKE with a parameter then uses no index.
	StablePlans bool
}

// Conn is one connection.
type Conn struct {
	tls         *libc.TLS
	db          uintptr
	out         uintptr // two pointers of C memory, for the results of prepare
	statements  cache
	authorize   Authorizer
	interrupted atomic.Bool
}

// Open opens the database file at path and creates it if it is missing.
func Open(path string, o Options) (*Conn, error) {
	quickLocks(path)
	c := &Conn{tls: libc.NewTLS()}
	c.statements.setUp(o.Statements)
	if err := c.open(path, o); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return c, nil
}

func (c *Conn) open(path string, o Options) error {
	c.out = libc.Xmalloc(c.tls, 2*pointerSize)
	flags := int32(lib.SQLITE_OPEN_NOMUTEX | lib.SQLITE_OPEN_READWRITE | lib.SQLITE_OPEN_CREATE)
	if o.ReadOnly {
		flags = lib.SQLITE_OPEN_NOMUTEX | lib.SQLITE_OPEN_READONLY
	}
	if o.Immutable {
		flags = lib.SQLITE_OPEN_NOMUTEX | lib.SQLITE_OPEN_READONLY | lib.SQLITE_OPEN_URI
		path = (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: "immutable=1"}).String()
	}
	name := c.cString(path)
	defer c.free(name)
	var vfs uintptr
	if o.VFS != "" {
		vfs = c.cString(o.VFS)
		defer c.free(vfs)
	}
	rc := lib.Xsqlite3_open_v2(c.tls, name, c.out, flags, vfs)
	c.db = *(*uintptr)(pointer(c.out))
	if rc != lib.SQLITE_OK {
		err := c.fail(rc)
		_ = c.Close()
		return err
	}
	lib.Xsqlite3_extended_result_codes(c.tls, c.db, 1)
	lib.Xsqlite3_busy_timeout(c.tls, c.db, int32(min(o.BusyTimeout.Milliseconds(), 1<<30)))
	lib.Xsqlite3_progress_handler(c.tls, c.db, progressOps, funcPointer(onProgress), c.self())
	lib.Xsqlite3_set_authorizer(c.tls, c.db, funcPointer(onAuthorize), c.self())
	if o.StablePlans {
		lib.Xsqlite3_db_config(c.tls, c.db, lib.SQLITE_DBCONFIG_ENABLE_QPSG, libc.VaList(c.out, int32(1), uintptr(0)))
	}
	return nil
}

func onProgress(_ *libc.TLS, self uintptr) int32 {
	if (*Conn)(pointer(self)).interrupted.Load() {
		return 1
	}
	return 0
}

// Close finalizes all statements and closes the connection. Idempotent.
func (c *Conn) Close() error {
	if c.tls == nil {
		return nil
	}
	c.statements.clear()
	var err error
	if c.db != 0 {
		if rc := lib.Xsqlite3_close_v2(c.tls, c.db); rc != lib.SQLITE_OK {
			err = c.fail(rc)
		}
	}
	c.free(c.out)
	c.tls.Close()
	c.tls, c.db, c.out = nil, 0, 0
	return err
}

// Until interrupts statements (SQLITE_INTERRUPT) when ctx ends, until stop is called.
func (c *Conn) Until(ctx context.Context) (stop func()) {
	c.interrupted.Store(false)
	if ctx.Done() == nil {
		return func() {}
	}
	cancel := context.AfterFunc(ctx, c.Interrupt)
	return func() {
		cancel()
		c.interrupted.Store(false)
	}
}

// Interrupt ends the running statement, and those that follow until the next Until,
// with SQLITE_INTERRUPT. It is safe from any goroutine.
func (c *Conn) Interrupt() { c.interrupted.Store(true) }

// Changes is the number of rows that the last INSERT, UPDATE or DELETE changed.
func (c *Conn) Changes() int64 { return lib.Xsqlite3_changes64(c.tls, c.db) }

// TotalChanges is the number of rows changed since the connection was opened, including
// changes by triggers and foreign keys.
func (c *Conn) TotalChanges() int64 { return lib.Xsqlite3_total_changes64(c.tls, c.db) }

// LastInsertRowID is the rowid of the last INSERT of this connection.
func (c *Conn) LastInsertRowID() int64 { return lib.Xsqlite3_last_insert_rowid(c.tls, c.db) }

// OwesForeignKeys reports whether the open transaction has a deferred violation of a
// foreign key, so that its commit would fail.
func (c *Conn) OwesForeignKeys() bool {
	lib.Xsqlite3_db_status(c.tls, c.db, lib.SQLITE_DBSTATUS_DEFERRED_FKS, c.out, c.out+4, 0)
	return *(*int32)(pointer(c.out)) != 0
}

// InTransaction reports whether a transaction is open.
func (c *Conn) InTransaction() bool { return lib.Xsqlite3_get_autocommit(c.tls, c.db) == 0 }

// Limit sets one of the engine's run-time limits (SQLITE_LIMIT_*).
func (c *Conn) Limit(id Limit, value int) {
	lib.Xsqlite3_limit(c.tls, c.db, int32(id), int32(value))
}

// Limit names a run-time limit of a connection.
type Limit int32

// The limits that this program sets.
const (
	LimitLength    Limit = lib.SQLITE_LIMIT_LENGTH     // bytes of a string, a blob or a row
	LimitSQLLength Limit = lib.SQLITE_LIMIT_SQL_LENGTH // bytes of a statement
	LimitColumns   Limit = lib.SQLITE_LIMIT_COLUMN     // columns of a table, a result or an index
	LimitVariables Limit = lib.SQLITE_LIMIT_VARIABLE_NUMBER
	LimitLikeSize  Limit = lib.SQLITE_LIMIT_LIKE_PATTERN_LENGTH // bytes of a LIKE or GLOB pattern
	LimitArguments Limit = lib.SQLITE_LIMIT_FUNCTION_ARG
	LimitAttached  Limit = lib.SQLITE_LIMIT_ATTACHED
	LimitCompound  Limit = lib.SQLITE_LIMIT_COMPOUND_SELECT // terms of a compound SELECT
	LimitDepth     Limit = lib.SQLITE_LIMIT_EXPR_DEPTH
)

// self is the address by which the engine's callbacks find c. Go's heap does not move,
// and the caller that runs a statement keeps c alive.
func (c *Conn) self() uintptr { return uintptr(unsafe.Pointer(c)) }
