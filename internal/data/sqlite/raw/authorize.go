package raw

import (
	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// Verb is a kind of action of a statement, reported while it is compiled. Names and
// arguments are those of sqlite3_set_authorizer.
type Verb int32

// The verbs that policies distinguish.
const (
	VerbRead         Verb = lib.SQLITE_READ   // table, column
	VerbSelect       Verb = lib.SQLITE_SELECT // -
	VerbPragma       Verb = lib.SQLITE_PRAGMA // name, argument
	VerbTransaction  Verb = lib.SQLITE_TRANSACTION
	VerbSavepoint    Verb = lib.SQLITE_SAVEPOINT
	VerbAttach       Verb = lib.SQLITE_ATTACH
	VerbDetach       Verb = lib.SQLITE_DETACH
	VerbFunction     Verb = lib.SQLITE_FUNCTION      // -, name
	VerbCreateVTable Verb = lib.SQLITE_CREATE_VTABLE // table, module
	VerbAlterTable   Verb = lib.SQLITE_ALTER_TABLE   // database, table
	VerbRecursive    Verb = lib.SQLITE_RECURSIVE
	VerbTempIndex    Verb = lib.SQLITE_CREATE_TEMP_INDEX
	VerbTempTable    Verb = lib.SQLITE_CREATE_TEMP_TABLE
	VerbTempTrigger  Verb = lib.SQLITE_CREATE_TEMP_TRIGGER
	VerbTempView     Verb = lib.SQLITE_CREATE_TEMP_VIEW
)

// Action is one action of a statement.
type Action struct {
	Verb       Verb
	Arg1, Arg2 string // "" for none
	Database   string // "main", "temp" or ""
	Inner      string // the trigger or view it comes from, or ""
}

// Authorizer reports whether an action is allowed. If not, the whole statement fails
// with the code Auth. It must not use the connection.
type Authorizer func(Action) bool

//nolint:revive // the engine fixes the arguments
func onAuthorize(_ *libc.TLS, self uintptr, verb int32, z1, z2, zDB, zInner uintptr) int32 {
	c := (*Conn)(pointer(self))
	if c.authorize == nil {
		return lib.SQLITE_OK
	}
	a := Action{Verb(verb), libc.GoString(z1), libc.GoString(z2), libc.GoString(zDB), libc.GoString(zInner)}
	if c.authorize(a) {
		return lib.SQLITE_OK
	}
	return lib.SQLITE_DENY
}

// SetAuthorizer sets the policy for statements compiled from now on; nil, the default,
// allows all. It does not affect statements that are already prepared: users of one
// connection must not run each other's statements.
func (c *Conn) SetAuthorizer(a Authorizer) { c.authorize = a }
