package ratelimit

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	maxKey     = 4 << 10 // bytes of a key that count
	maxWindows = 200_000 // windows in memory; beyond it the ones that are over are removed
)

// window is the calls with a key in one period of time.
type window struct {
	key    string
	period int
	start  int64 // in seconds since 1970
}

// counter is the Instance of a namespace.
type counter struct {
	now func() time.Time

	mu     sync.Mutex
	counts map[window]int
}

// ServeHTTP answers 200 if a call is within the limit, else 429.
func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, err := io.ReadAll(io.LimitReader(r.Body, maxKey))
	_, _ = io.Copy(io.Discard, r.Body)
	var limit, period int
	_, scanErr := fmt.Sscanf(r.URL.Path, "/%d/%d", &limit, &period)
	switch {
	case err != nil || scanErr != nil || period < 1:
		w.WriteHeader(http.StatusBadRequest)
	case c.take(string(key), limit, period):
		w.WriteHeader(http.StatusOK)
	default:
		w.WriteHeader(http.StatusTooManyRequests)
	}
}

// take counts a call and reports whether it is within the limit. A refused call does not
// count.
func (c *counter) take(key string, limit, period int) bool {
	now := c.now().Unix()
	at := window{key, period, now - now%int64(period)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts[at] >= limit {
		return false
	}
	if len(c.counts) >= maxWindows {
		c.prune(now)
	}
	c.counts[at]++
	return true
}

// prune removes windows that are over; all of them, if none is. It needs the mutex.
func (c *counter) prune(now int64) {
	for w := range c.counts {
		if w.start+int64(w.period) <= now {
			delete(c.counts, w)
		}
	}
	if len(c.counts) >= maxWindows {
		clear(c.counts)
	}
}

// Close has nothing to close.
func (*counter) Close() error { return nil }
