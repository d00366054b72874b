package hostmain

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// counts are the requests to the object store that the daemon was not told of.
type counts struct {
	mu sync.Mutex
	n  map[counted]svc.RequestCount
}

type counted struct{ op, result string }

func (c *counts) add(op, result string, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[counted]svc.RequestCount{}
	}
	at := counted{op, result}
	r := c.n[at]
	c.n[at] = svc.RequestCount{Op: op, Result: result, N: r.N + 1, Took: r.Took + took}
}

// take gives them and begins anew.
func (c *counts) take() []svc.RequestCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.Collect(maps.Values(c.n))
	clear(c.n)
	return list
}
