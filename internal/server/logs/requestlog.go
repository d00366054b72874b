package logs

import (
	"bytes"
	"sync"
	"sync/atomic"

	"github.com/svcctl/svcctl/internal/lib/ring"
)

// maxEarly is the maximum size in bytes of the entries that wait until a log is open; more
// are dropped.
const maxEarly = 1 << 20

// requestLog is the log of the requests of one version.
type requestLog struct {
	ring   atomic.Pointer[ring.Writer] // nil until the log is open
	opened chan struct{}               // closed when it is open, or cannot be opened

	mu    sync.Mutex // guards what follows
	early [][]byte   // entries from before it was open
	size  int        // of early, in bytes
}

// append adds an entry, which is copied. It does not wait for the disk.
func (l *requestLog) append(entry []byte) {
	w := l.ring.Load()
	if w == nil {
		w = l.keep(entry)
	}
	if w != nil {
		w.Append(entry)
	}
}

// keep keeps an entry until the log is open. If it is open already, keep returns its ring.
func (l *requestLog) keep(entry []byte) *ring.Writer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.ring.Load(); w != nil {
		return w
	}
	if l.size+len(entry) <= maxEarly {
		l.early, l.size = append(l.early, bytes.Clone(entry)), l.size+len(entry)
	}
	return nil
}

// begin makes w the ring of the log, and writes what has waited for it.
func (l *requestLog) begin(w *ring.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, entry := range l.early {
		w.Append(entry)
	}
	l.early = nil
	l.ring.Store(w)
}

// close writes what waits.
func (l *requestLog) close() {
	<-l.opened
	if w := l.ring.Load(); w != nil {
		_ = w.Close() // reported to Recorder.failed
	}
}
