package keyed

import (
	"context"
	"sync"
)

// Mutex is a set of locks, one per key.
type Mutex[K comparable] struct {
	mu    sync.Mutex
	locks map[K]*lock
}

// lock is the lock of one key. Mutex.mu guards users and holder.
type lock struct {
	token  chan struct{} // holds one value while the lock is held
	users  int           // callers that hold the lock or wait for it
	holder *holder       // nil while nothing holds the lock
}

// holder is one critical section.
type holder struct {
	cancel context.CancelCauseFunc
	done   chan struct{} // closed by unlock
}

// Lock waits for the lock of key, in the order of the calls. held is ctx until
// Interrupt or unlock ends it. The caller calls unlock once. When ctx ends
// first, Lock returns the cause and takes nothing.
func (m *Mutex[K]) Lock(ctx context.Context, key K) (held context.Context, unlock func(), err error) {
	l := m.join(key)
	select {
	case l.token <- struct{}{}:
	case <-ctx.Done():
		m.leave(key, l)
		return nil, nil, context.Cause(ctx)
	}
	held, cancel := context.WithCancelCause(ctx)
	h := &holder{cancel, make(chan struct{})}
	m.setHolder(l, h)
	return held, func() {
		cancel(nil)
		m.setHolder(l, nil)
		close(h.done)
		<-l.token
		m.leave(key, l)
	}, nil
}

// Interrupt ends the context of the current holder of key with cause and
// waits for its unlock. Callers that wait in Lock are not interrupted. Without
// a holder Interrupt does nothing. When ctx ends first, it returns the cause.
func (m *Mutex[K]) Interrupt(ctx context.Context, key K, cause error) error {
	h := m.holder(key)
	if h == nil {
		return nil
	}
	h.cancel(cause)
	select {
	case <-h.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Busy reports whether the lock of key is held or waited for.
func (m *Mutex[K]) Busy(key K) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.locks[key] != nil
}

func (m *Mutex[K]) join(key K) *lock {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.locks[key]
	if l == nil {
		if m.locks == nil {
			m.locks = map[K]*lock{}
		}
		l = &lock{token: make(chan struct{}, 1)}
		m.locks[key] = l
	}
	l.users++
	return l
}

func (m *Mutex[K]) leave(key K, l *lock) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(m.locks, key)
	}
}

func (m *Mutex[K]) setHolder(l *lock, h *holder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l.holder = h
}

func (m *Mutex[K]) holder(key K) *holder {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.locks[key]; l != nil {
		return l.holder
	}
	return nil
}
