package lifecycle

import (
	"context"
	"sync"

	"github.com/svcctl/svcctl/internal/svc"
)

// locks is one lock per version.
type locks struct {
	mu sync.Mutex
	m  map[svc.Ref]*lock
}

type lock struct {
	token chan struct{} // holds one while the lock is taken
	users int           // who have it or want it
}

func newLocks() *locks { return &locks{m: map[svc.Ref]*lock{}} }

// acquire takes the lock of a version, or gives up when ctx ends or quit is
// closed.
func (l *locks) acquire(ctx context.Context, quit <-chan struct{}, ref svc.Ref) (release func(), err error) {
	l.mu.Lock()
	k := l.m[ref]
	if k == nil {
		k = &lock{token: make(chan struct{}, 1)}
		l.m[ref] = k
	}
	k.users++
	l.mu.Unlock()
	select {
	case k.token <- struct{}{}:
		return func() { <-k.token; l.leave(ref, k) }, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-quit:
		err = errStopping
	}
	l.leave(ref, k)
	return nil, err
}

// busy tells whether somebody has the lock or waits for it.
func (l *locks) busy(ref svc.Ref) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.m[ref] != nil
}

func (l *locks) leave(ref svc.Ref, k *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(l.m, ref)
	}
}
