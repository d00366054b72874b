package hostmain

import (
	"sync"

	"github.com/svcctl/svcctl/internal/svc"
)

// counts are the requests to the object store that the daemon was not told of.
type counts struct {
	mu sync.Mutex
	n  map[svc.RequestCount]int // by operation and result
}

func (c *counts) add(op, result string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[svc.RequestCount]int{}
	}
	c.n[svc.RequestCount{Op: op, Result: result}]++
}

// take gives them and begins anew.
func (c *counts) take() (list []svc.RequestCount) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r, n := range c.n {
		r.N = n
		list = append(list, r)
	}
	clear(c.n)
	return list
}
