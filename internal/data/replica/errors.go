package replica

import (
	"errors"
	"fmt"

	"github.com/svcctl/svcctl/internal/data/branch"
)

// The errors that callers handle.
var (
	ErrFenced        = branch.ErrFenced
	ErrNotRestorable = branch.ErrNotRestorable
	// ErrOrder says that an append is not the next transaction, which is an error of the caller.
	ErrOrder = errors.New("not the next transaction")
	// ErrUnsettled says that an earlier append has an unknown outcome. The caller must
	// repeat it with the same bytes before it appends anything else.
	ErrUnsettled = errors.New("the outcome of an earlier append is unknown")
)

// CorruptError says that an object of the log is damaged.
type CorruptError struct {
	Key string
	Err error
}

func (e *CorruptError) Error() string { return fmt.Sprintf("log file %s is damaged: %v", e.Key, e.Err) }

// Unwrap returns the reason.
func (e *CorruptError) Unwrap() error { return e.Err }

func corrupt(f branch.File, format string, args ...any) error {
	return &CorruptError{f.Key(), fmt.Errorf(format, args...)}
}
