package queues

import (
	"maps"
	"sync"

	"github.com/svcctl/svcctl/internal/svc"
)

// summary counts the messages of deliveries by what became of them.
type summary struct {
	Acked, Retried, Dead, Dropped int64
}

func (s *summary) count(f fate) {
	switch f {
	case acked:
		s.Acked++
	case retried:
		s.Retried++
	case dies:
		s.Dead++
	case dropped:
		s.Dropped++
	}
}

// tally counts since the queue was opened.
type tally struct {
	mu         sync.Mutex
	deliveries map[svc.Outcome]int64
	messages   summary
}

func (t *tally) delivered(o svc.Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.deliveries == nil {
		t.deliveries = map[svc.Outcome]int64{}
	}
	t.deliveries[o]++
}

func (t *tally) add(s summary) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.messages.Acked += s.Acked
	t.messages.Retried += s.Retried
	t.messages.Dead += s.Dead
	t.messages.Dropped += s.Dropped
}

func (t *tally) get() (map[svc.Outcome]int64, summary) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.deliveries), t.messages
}
