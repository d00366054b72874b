package dataplane

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
)

// TestClockGoesBack: everything after a point is later, whatever the time of the machine does.
func TestClockGoesBack(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_000_000)
	c := clock{now: func() time.Time { return now }}
	c.begin(3)
	first := c.next(5)
	now = now.Add(-time.Hour)
	segment := c.segment()
	second := c.next(6)
	now = now.Add(-time.Hour)
	if segment.Time <= first.Time || second.Time < segment.Time || c.segment().Time <= second.Time {
		t.Errorf("a point at %d, a segment at %d, a point at %d, a segment at %d", first.Time, segment.Time, second.Time, c.segment().Time)
	}
	if epoch, sum := branch.PlaceOf(second.Node); epoch != 3 || sum != 6 {
		t.Errorf("the second point has epoch %d and sum %d", epoch, sum)
	}
	if epoch, sum := branch.PlaceOf(segment.Node); epoch != 3 || sum != 0 {
		t.Errorf("the segment has epoch %d and sum %d", epoch, sum)
	}
}
