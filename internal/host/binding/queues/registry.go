package queues

import (
	"context"
	"sync"

	"github.com/svcctl/svcctl/internal/data/volume"
)

// registry has the queues that are open: each once, for all its users.
type registry struct {
	limit int64 // of each queue

	mu   sync.Mutex
	open map[key]*shared
}

type key struct {
	db   volume.Database
	name string
}

type shared struct {
	*queue

	users int
}

// get opens a queue unless it is open. The caller gives it back with put.
func (r *registry) get(ctx context.Context, db volume.Database, name string) (*queue, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.open[key{db, name}]
	if s == nil {
		q, err := openQueue(ctx, name, db, r.limit)
		if err != nil {
			return nil, err
		}
		s = &shared{queue: q}
		r.open[key{db, name}] = s
	}
	s.users++
	return s.queue, nil
}

func (r *registry) put(q *queue) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := key{q.db, q.name}
	s := r.open[k]
	if s.users--; s.users == 0 {
		delete(r.open, k)
	}
}
