package raw

import (
	"fmt"
	"strconv"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// Code is a result code of the engine, extended if it has an extension.
type Code int32

// The codes that this program distinguishes.
const (
	Generic    Code = lib.SQLITE_ERROR
	Busy       Code = lib.SQLITE_BUSY
	Interrupt  Code = lib.SQLITE_INTERRUPT
	Constraint Code = lib.SQLITE_CONSTRAINT
	Auth       Code = lib.SQLITE_AUTH
	Range      Code = lib.SQLITE_RANGE
	TooBig     Code = lib.SQLITE_TOOBIG
	ReadOnly   Code = lib.SQLITE_READONLY
	ForeignKey Code = lib.SQLITE_CONSTRAINT_FOREIGNKEY
	NoMemory   Code = lib.SQLITE_NOMEM
	IOErr      Code = lib.SQLITE_IOERR
	Full       Code = lib.SQLITE_FULL
)

// Primary is the code without its extension.
func (c Code) Primary() Code { return c & 0xff }

// String is the code's name in the engine's documentation.
func (c Code) String() string {
	if s, ok := codeNames[c]; ok {
		return s
	}
	if s, ok := codeNames[c.Primary()]; ok {
		return s
	}
	return "SQLITE_" + strconv.Itoa(int(c))
}

// Error is an error of the engine.
type Error struct {
	Code    Code
	Message string
	Offset  int // of the wrong token, in bytes of the statement; -1 for none
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%s)", e.Message, e.Code) }

// fail returns the error of the last call, which returned rc.
func (c *Conn) fail(rc int32) error {
	e := &Error{Code: Code(rc), Offset: -1}
	if c.db == 0 {
		e.Message = libc.GoString(lib.Xsqlite3_errstr(c.tls, rc))
		return e
	}
	if x := lib.Xsqlite3_extended_errcode(c.tls, c.db); Code(x).Primary() == Code(rc).Primary() {
		e.Code = Code(x)
		e.Message = libc.GoString(lib.Xsqlite3_errmsg(c.tls, c.db))
		e.Offset = int(lib.Xsqlite3_error_offset(c.tls, c.db))
		return e
	}
	e.Message = libc.GoString(lib.Xsqlite3_errstr(c.tls, rc))
	return e
}

//nolint:gochecknoglobals // a table of names
var codeNames = map[Code]string{
	lib.SQLITE_ERROR:                 "SQLITE_ERROR",
	lib.SQLITE_INTERNAL:              "SQLITE_INTERNAL",
	lib.SQLITE_PERM:                  "SQLITE_PERM",
	lib.SQLITE_ABORT:                 "SQLITE_ABORT",
	lib.SQLITE_ABORT_ROLLBACK:        "SQLITE_ABORT_ROLLBACK",
	lib.SQLITE_BUSY:                  "SQLITE_BUSY",
	lib.SQLITE_BUSY_SNAPSHOT:         "SQLITE_BUSY_SNAPSHOT",
	lib.SQLITE_LOCKED:                "SQLITE_LOCKED",
	lib.SQLITE_NOMEM:                 "SQLITE_NOMEM",
	lib.SQLITE_READONLY:              "SQLITE_READONLY",
	lib.SQLITE_INTERRUPT:             "SQLITE_INTERRUPT",
	lib.SQLITE_IOERR:                 "SQLITE_IOERR",
	lib.SQLITE_CORRUPT:               "SQLITE_CORRUPT",
	lib.SQLITE_CORRUPT_VTAB:          "SQLITE_CORRUPT_VTAB",
	lib.SQLITE_NOTFOUND:              "SQLITE_NOTFOUND",
	lib.SQLITE_FULL:                  "SQLITE_FULL",
	lib.SQLITE_CANTOPEN:              "SQLITE_CANTOPEN",
	lib.SQLITE_PROTOCOL:              "SQLITE_PROTOCOL",
	lib.SQLITE_SCHEMA:                "SQLITE_SCHEMA",
	lib.SQLITE_TOOBIG:                "SQLITE_TOOBIG",
	lib.SQLITE_CONSTRAINT:            "SQLITE_CONSTRAINT",
	lib.SQLITE_CONSTRAINT_CHECK:      "SQLITE_CONSTRAINT_CHECK",
	lib.SQLITE_CONSTRAINT_COMMITHOOK: "SQLITE_CONSTRAINT_COMMITHOOK",
	lib.SQLITE_CONSTRAINT_DATATYPE:   "SQLITE_CONSTRAINT_DATATYPE",
	lib.SQLITE_CONSTRAINT_FOREIGNKEY: "SQLITE_CONSTRAINT_FOREIGNKEY",
	lib.SQLITE_CONSTRAINT_FUNCTION:   "SQLITE_CONSTRAINT_FUNCTION",
	lib.SQLITE_CONSTRAINT_NOTNULL:    "SQLITE_CONSTRAINT_NOTNULL",
	lib.SQLITE_CONSTRAINT_PINNED:     "SQLITE_CONSTRAINT_PINNED",
	lib.SQLITE_CONSTRAINT_PRIMARYKEY: "SQLITE_CONSTRAINT_PRIMARYKEY",
	lib.SQLITE_CONSTRAINT_ROWID:      "SQLITE_CONSTRAINT_ROWID",
	lib.SQLITE_CONSTRAINT_TRIGGER:    "SQLITE_CONSTRAINT_TRIGGER",
	lib.SQLITE_CONSTRAINT_UNIQUE:     "SQLITE_CONSTRAINT_UNIQUE",
	lib.SQLITE_CONSTRAINT_VTAB:       "SQLITE_CONSTRAINT_VTAB",
	lib.SQLITE_MISMATCH:              "SQLITE_MISMATCH",
	lib.SQLITE_MISUSE:                "SQLITE_MISUSE",
	lib.SQLITE_NOLFS:                 "SQLITE_NOLFS",
	lib.SQLITE_AUTH:                  "SQLITE_AUTH",
	lib.SQLITE_FORMAT:                "SQLITE_FORMAT",
	lib.SQLITE_RANGE:                 "SQLITE_RANGE",
	lib.SQLITE_NOTADB:                "SQLITE_NOTADB",
	lib.SQLITE_ERROR_MISSING_COLLSEQ: "SQLITE_ERROR_MISSING_COLLSEQ",
	lib.SQLITE_READONLY_DBMOVED:      "SQLITE_READONLY_DBMOVED",
	lib.SQLITE_IOERR_SHORT_READ:      "SQLITE_IOERR_SHORT_READ",
	lib.SQLITE_IOERR_WRITE:           "SQLITE_IOERR_WRITE",
	lib.SQLITE_IOERR_FSYNC:           "SQLITE_IOERR_FSYNC",
}
