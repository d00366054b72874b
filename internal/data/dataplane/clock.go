package dataplane

import (
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/cowvfs"
)

// clock gives the stamps of segments. The state of a database at a point is its newest segment that is not
// after it, so every segment that is made after a point is later, also when the time of the machine goes
// back. The epoch of the owner comes first in that order: another owner's time proves nothing.
type clock struct {
	now func() time.Time

	mu          sync.Mutex // guards the fields below
	epoch       uint64
	point, last int64 // the newest given, in milliseconds
}

// segment is the stamp of a segment that ends at no point.
func (c *clock) segment() cowvfs.Stamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.now().UnixMilli(), c.point+1, c.last)
	return cowvfs.Stamp{Time: c.last, Node: branch.Place(c.epoch, 0)}
}

// next is the stamp of a point at which the newest transactions of all databases have a sum.
func (c *clock) next(sum uint64) cowvfs.Stamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.now().UnixMilli(), c.point+1, c.last)
	c.point = c.last
	return cowvfs.Stamp{Time: c.last, Node: branch.Place(c.epoch, sum)}
}

// after makes later points later than a time.
func (c *clock) after(ms int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.point = max(c.point, ms)
}

// begin sets the epoch, before any segment is made.
func (c *clock) begin(epoch uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch = epoch
}
