package objstore

import "errors"

// ErrFinal says that a request failed and that no repetition helps. Buckets of programs that a person or
// a timer waits for return it, see [Final]; for a server, which a person repairs while it runs, no error is final.
var ErrFinal = errors.New("no repetition helps")

// Final returns err as an error that is also ErrFinal.
func Final(err error) error { return &final{err} }

type final struct{ cause error }

func (f *final) Error() string      { return f.cause.Error() }
func (f *final) Unwrap() error      { return f.cause }
func (*final) Is(target error) bool { return target == ErrFinal }
