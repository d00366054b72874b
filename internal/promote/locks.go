package promote

import (
	"context"
	"sync"
)

// locks is one lock per project. A promotion holds its project's from the
// reading of the production to its end, so that a first assignment waits for it.
type locks struct {
	mu sync.Mutex
	m  map[string]*lock
}

type lock struct {
	token chan struct{} // holds one while the lock is taken
	users int           // who have it or want it
}

func newLocks() *locks { return &locks{m: map[string]*lock{}} }

// acquire takes the lock of a project, or gives up when ctx ends.
func (l *locks) acquire(ctx context.Context, project string) (release func(), err error) {
	l.mu.Lock()
	k := l.m[project]
	if k == nil {
		k = &lock{token: make(chan struct{}, 1)}
		l.m[project] = k
	}
	k.users++
	l.mu.Unlock()
	select {
	case k.token <- struct{}{}:
		return func() { <-k.token; l.leave(project, k) }, nil
	case <-ctx.Done():
		l.leave(project, k)
		return nil, context.Cause(ctx)
	}
}

func (l *locks) leave(project string, k *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(l.m, project)
	}
}
