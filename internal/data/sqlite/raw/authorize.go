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
	VerbInsert       Verb = lib.SQLITE_INSERT // table
	VerbUpdate       Verb = lib.SQLITE_UPDATE // table, column
	VerbDelete       Verb = lib.SQLITE_DELETE // table
	VerbPragma       Verb = lib.SQLITE_PRAGMA // name, argument
	VerbTransaction  Verb = lib.SQLITE_TRANSACTION
	VerbSavepoint    Verb = lib.SQLITE_SAVEPOINT
	VerbAttach       Verb = lib.SQLITE_ATTACH
	VerbDetach       Verb = lib.SQLITE_DETACH
	VerbFunction     Verb = lib.SQLITE_FUNCTION      // -, name
	VerbCreateVTable Verb = lib.SQLITE_CREATE_VTABLE // table, module
	VerbDropVTable   Verb = lib.SQLITE_DROP_VTABLE   // table, module
	VerbAlterTable   Verb = lib.SQLITE_ALTER_TABLE   // database, table
	VerbReindex      Verb = lib.SQLITE_REINDEX
	VerbAnalyze      Verb = lib.SQLITE_ANALYZE
	VerbRecursive    Verb = lib.SQLITE_RECURSIVE
	VerbCreateIndex  Verb = lib.SQLITE_CREATE_INDEX   // index, table
	VerbCreateTable  Verb = lib.SQLITE_CREATE_TABLE   // table
	VerbCreateView   Verb = lib.SQLITE_CREATE_VIEW    // view
	VerbCreateTrig   Verb = lib.SQLITE_CREATE_TRIGGER // trigger, table
	VerbDropIndex    Verb = lib.SQLITE_DROP_INDEX     // index, table
	VerbDropTable    Verb = lib.SQLITE_DROP_TABLE     // table
	VerbDropTrigger  Verb = lib.SQLITE_DROP_TRIGGER   // trigger, table
	VerbDropView     Verb = lib.SQLITE_DROP_VIEW      // view
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
