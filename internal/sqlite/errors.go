package sqlite

import (
	"errors"

	modernc "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// IsUnique reports whether err says that a row with this key exists already.
func IsUnique(err error) bool {
	return isCode(err, lib.SQLITE_CONSTRAINT_UNIQUE) || isCode(err, lib.SQLITE_CONSTRAINT_PRIMARYKEY)
}

// IsForeignKey reports whether err says that a row refers to one that does not
// exist.
func IsForeignKey(err error) bool { return isCode(err, lib.SQLITE_CONSTRAINT_FOREIGNKEY) }

func isCode(err error, code int) bool {
	var e *modernc.Error
	return errors.As(err, &e) && e.Code() == code
}
