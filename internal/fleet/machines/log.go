package machines

import (
	"fmt"
	"os"
	"sync"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/lib/ring"
	"github.com/svcctl/svcctl/internal/svc"
)

// log is the log of a worker, on the machine of the daemon. A nil log takes nothing.
type log struct {
	ring *ring.Writer

	mu     sync.Mutex // guards the fields below
	next   uint64     // number of the entry that is expected: a line may bring some twice
	closed bool
}

func openLog(dir string) (*log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the log directory: %w", err)
	}
	w, err := ring.Open(dir, svc.LogsOfWorker, ring.Options{SegmentSize: svc.LogSegmentSize, Segments: svc.LogSegments})
	if err != nil {
		return nil, err
	}
	return &log{ring: w}, nil
}

func (l *log) write(list *control.Logs) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, line := range list.Lines {
		if n := list.From + uint64(i); n >= l.next && !l.closed {
			l.ring.Append(line)
			l.next = n + 1
		}
	}
}

func (l *log) close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		_ = l.ring.Close() // entries that cannot be written are lost
	}
}
