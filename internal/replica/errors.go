package replica

import (
	"errors"
	"fmt"

	"github.com/svcctl/svcctl/internal/branch"
)

// The errors callers act on.
var (
	ErrFenced        = branch.ErrFenced
	ErrNotRestorable = branch.ErrNotRestorable
	// ErrOrder says that an append is not the next transaction. It is a fault of the caller.
	ErrOrder = errors.New("not the next transaction")
	// ErrUnsettled says that an earlier append has an unknown outcome and must
	// be repeated, with the same bytes, before anything else is appended.
	ErrUnsettled = errors.New("an earlier append is not settled")
)

// CorruptError says that an object of the log is not what it must be.
type CorruptError struct {
	Key string
	Err error
}

func (e *CorruptError) Error() string { return fmt.Sprintf("log file %s is damaged: %v", e.Key, e.Err) }

// Unwrap gives what is wrong with it.
func (e *CorruptError) Unwrap() error { return e.Err }

func corrupt(f branch.File, format string, args ...any) error {
	return &CorruptError{f.Key(), fmt.Errorf(format, args...)}
}
