package dataplane

import (
	"errors"
	"sync"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// fate is whether this process may still go on with the data. Its end is final.
type fate struct {
	once sync.Once
	over chan struct{} // closed at the end
	err  error         // why, set before
}

func newFate() *fate { return &fate{over: make(chan struct{})} }

// end ends it, and reports whether it was this call that did.
func (f *fate) end(err error) (first bool) {
	f.once.Do(func() {
		f.err, first = lost(err), true
		close(f.over)
	})
	return first
}

// check is nil, or why nothing may be done any more.
func (f *fate) check() error {
	select {
	case <-f.over:
		return f.err
	default:
		return nil
	}
}

// Codes of the errors that end a host.
const (
	CodeFenced = "data_fenced" // another process owns the data now
	CodeBroken = "data_broken" // the log is not what it must be
	CodeDisk   = "disk_failed" // the disk has refused to keep what was written
)

func lost(err error) error {
	if errors.Is(err, branch.ErrFenced) || errors.Is(err, branch.ErrLost) {
		return svc.Errorf(svc.Unavailable, CodeFenced, "another process has taken over the version's data").Because(err)
	}
	if errors.Is(err, errDisk) {
		return svc.Errorf(svc.Unavailable, CodeDisk, "the disk under the version's data fails").Because(err)
	}
	return svc.Errorf(svc.Internal, CodeBroken, "the version's data in the object store is damaged").Because(err)
}
