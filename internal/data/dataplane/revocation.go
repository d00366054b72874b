package dataplane

import (
	"errors"
	"sync"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// revocation says whether this process must stop serving the data: ownership was revoked, the
// disk failed or the data is damaged. It is final.
type revocation struct {
	once sync.Once
	done chan struct{} // closed by revoke
	err  error         // the reason, set before
}

func newRevocation() *revocation { return &revocation{done: make(chan struct{})} }

// revoke sets the reason, and reports whether it was the first call.
func (f *revocation) revoke(err error) (first bool) {
	f.once.Do(func() {
		f.err, first = revokedError(err), true
		close(f.done)
	})
	return first
}

// check returns nil, or the reason.
func (f *revocation) check() error {
	select {
	case <-f.done:
		return f.err
	default:
		return nil
	}
}

func revokedError(err error) error {
	if errors.Is(err, branch.ErrFenced) || errors.Is(err, branch.ErrLost) {
		return svc.Errorf(svc.Unavailable, svc.CodeDataFenced, "another process has taken over the version's data").Because(err)
	}
	if errors.Is(err, errDisk) {
		return svc.Errorf(svc.Unavailable, svc.CodeDiskFailed, "the disk of the version's data failed").Because(err)
	}
	return svc.Errorf(svc.Internal, svc.CodeDataBroken, "the version's data in the object store is damaged").Because(err)
}
