package sqlite

import (
	"errors"
	"fmt"
	"syscall"

	modernc "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// IsUnique reports whether err says that a row with this key already exists.
func IsUnique(err error) bool {
	return isCode(err, lib.SQLITE_CONSTRAINT_UNIQUE) || isCode(err, lib.SQLITE_CONSTRAINT_PRIMARYKEY)
}

// IsForeignKey reports whether err says that a row refers to one that does not
// exist.
func IsForeignKey(err error) bool { return isCode(err, lib.SQLITE_CONSTRAINT_FOREIGNKEY) }

// orFull adds syscall.ENOSPC to an error for a full disk, as with other files.
func orFull(err error) error {
	if isCode(err, lib.SQLITE_FULL) {
		return fmt.Errorf("%w: %w", err, syscall.ENOSPC)
	}
	return err
}

func isCode(err error, code int) bool {
	var e *modernc.Error
	return errors.As(err, &e) && e.Code() == code
}
