package sagatest

import (
	"context"
	"slices"
	"sync"

	"github.com/svcctl/svcctl/internal/lib/saga"
)

// Mem is a journal in memory, for tests of code that runs sagas. The zero
// value is ready; it is safe for concurrent use.
type Mem struct {
	mu      sync.Mutex
	entries []saga.Entry
}

// Record appends e.
func (m *Mem) Record(_ context.Context, e saga.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries = append(m.entries, e)
	return nil
}

// Steps returns a copy of all entries.
func (m *Mem) Steps(context.Context) ([]saga.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.entries), nil
}
