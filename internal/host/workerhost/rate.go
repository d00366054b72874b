package workerhost

import (
	"fmt"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/host/workerd"
)

const (
	outputRate  = 512 << 10 // bytes of output per second that are logged
	outputBurst = 8 << 20   // bytes that are logged without delay after a quiet time
	lineCost    = 100       // bytes that a line counts in addition to its message
	tellDropped = time.Second
)

// rate limits the output of one version that is logged. It drops what exceeds the limit,
// and logs how much that was: with the next line that it accepts, after a second, and at
// the end.
type rate struct {
	write func(workerd.LogLine)

	mu      sync.Mutex // guards the fields below
	tokens  int        // bytes that may be logged
	filled  time.Time  // when tokens was computed
	lines   int        // dropped and not logged yet
	bytes   int        // of them
	pending *time.Timer
}

func newRate(write func(workerd.LogLine)) *rate {
	return &rate{write: write, tokens: outputBurst, filled: time.Now()}
}

// Write logs l or drops it.
func (r *rate) Write(l workerd.LogLine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fill()
	cost := len(l.Message) + lineCost
	if cost > r.tokens {
		r.lines, r.bytes = r.lines+1, r.bytes+len(l.Message)
		if r.pending == nil {
			r.pending = time.AfterFunc(tellDropped, r.Flush)
		}
		return
	}
	r.tokens -= cost
	r.tell()
	r.write(l)
}

// fill needs r.mu.
func (r *rate) fill() {
	now := time.Now()
	r.tokens = int(min(outputBurst, int64(r.tokens)+int64(now.Sub(r.filled).Seconds()*outputRate)))
	r.filled = now
}

// Flush logs how much was dropped, if anything.
func (r *rate) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell()
}

// tell needs r.mu.
func (r *rate) tell() {
	if r.pending != nil {
		r.pending.Stop()
		r.pending = nil
	}
	if r.lines == 0 {
		return
	}
	r.write(workerd.LogLine{Level: "warn", Source: workerd.SourceRuntime, Message: fmt.Sprintf(
		"lines dropped: %d (%d bytes): the worker wrote more than %d KiB per second", r.lines, r.bytes, outputRate>>10)})
	r.lines, r.bytes = 0, 0
}
