package conn

import (
	"sync"
	"sync/atomic"
)

const (
	// largeSize is what a large buffer holds: a unix socket has up to 208 KiB for one read.
	largeSize = 256 << 10
	// largeMost is the number of large buffers: slow clients hold theirs for long. Other
	// responses use the buffer of their exchange.
	largeMost = 32
)

// largeBuffers are buffers for bodies that need several buffers of BufferSize. Safe for
// concurrent use.
type largeBuffers struct {
	pool sync.Pool // *[]byte
	used atomic.Int32
}

// get returns a buffer for a body of n bytes, which the caller gives back, or nil.
func (l *largeBuffers) get(n int64) *[]byte {
	if n <= 2*BufferSize {
		return nil
	}
	if l.used.Add(1) > largeMost {
		l.used.Add(-1)
		return nil
	}
	if b, ok := l.pool.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, largeSize)
	return &b
}

func (l *largeBuffers) put(b *[]byte) {
	l.pool.Put(b)
	l.used.Add(-1)
}
