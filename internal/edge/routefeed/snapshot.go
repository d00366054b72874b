package routefeed

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"
)

// snapshotFor is how long an encoded snapshot stays in memory: gateways connect at the same time,
// after the start of a server.
const snapshotFor = 10 * time.Second

// snapshot is all routes of a generation, encoded. With 100,000 routes it has some 10 MB,
// and takes a second to encode: gateways share it.
type snapshot struct {
	generation uint64
	text       func() []byte // encodes in the first call; any goroutine may call it
}

// snapshot returns the one of this generation, or an earlier one whose later changes the log still
// has. l.mu must be held.
func (l *Log) snapshot() *snapshot {
	if s := l.last; s != nil && l.generation-s.generation <= uint64(len(l.changes)) {
		return s
	}
	lines := l.all()
	s := &snapshot{generation: l.generation, text: sync.OnceValue(func() []byte { return encode(lines) })}
	l.last = s
	time.AfterFunc(snapshotFor, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.last == s {
			l.last = nil
		}
	})
	return s
}

func encode(lines []Line) []byte {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	for i := range lines {
		_ = to.Encode(&lines[i]) // a line has nothing that cannot be encoded
	}
	return b.Bytes()
}
