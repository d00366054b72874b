package kv

import (
	"context"
	"sync"

	"github.com/svcctl/svcctl/internal/data/volume"
)

const (
	maxCached      = 1 << 20  // bytes of keys and values
	maxCachedValue = 16 << 10 // bytes
	cachedOverhead = 200      // bytes that an entry takes besides
)

// cache keeps entries that were read from db since its last write: a read of the database is
// a fifth of the time of a get in a worker (docs/design/bindings-speed.md). Each write of
// db, by whichever kind, empties it, so an answer is always one that db would give. Safe for
// concurrent use; callers do not change what it returns.
type cache struct {
	db volume.Database

	mu      sync.Mutex // guards what follows
	mark    uint64     // of db when the entries were read
	entries map[string]entry
	size    int
}

// get returns the entry of key, found or not, from memory or by read.
func (c *cache) get(ctx context.Context, key string, now int64, read func() (entry, error)) (entry, error) {
	before, ok := c.db.Mark(ctx)
	if !ok {
		return read()
	}
	if e, known := c.lookup(before, key); known && (e.expires == 0 || e.expires > now) {
		return e, nil
	}
	e, err := read()
	if after, ok := c.db.Mark(ctx); err == nil && ok && after == before {
		c.add(before, key, e)
	}
	return e, err
}

func (c *cache) lookup(mark uint64, key string) (entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mark != mark {
		return entry{}, false
	}
	e, known := c.entries[key]
	return e, known
}

// add keeps an entry that was read at mark.
func (c *cache) add(mark uint64, key string, e entry) {
	if len(e.value) > maxCachedValue {
		return
	}
	size := len(key) + len(e.metadata) + len(e.value) + cachedOverhead
	c.mu.Lock()
	defer c.mu.Unlock()
	if mark < c.mark {
		return
	}
	if mark > c.mark || c.entries == nil || c.size+size > maxCached {
		c.mark, c.entries, c.size = mark, map[string]entry{}, 0
	}
	if _, known := c.entries[key]; !known {
		c.size += size
	}
	c.entries[key] = e
}
