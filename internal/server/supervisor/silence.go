package supervisor

import (
	"time"

	"github.com/svcctl/svcctl/internal/host/driver"
	"github.com/svcctl/svcctl/internal/lib/cputime"
)

// silence is the time since a runtime answered its last ping. workerd has one thread for its
// events and for the storage of Durable Objects, and waits there for the disk: a request that
// makes hundreds of objects lets no ping through, on a busy machine for longer than the
// thread would need to show that it is in a loop.
type silence struct {
	since time.Time
	disk  cputime.Disk // of workerd's thread at the last ping; valid if known
	known bool
}

// isWork reports whether workerd's thread has waited for the disk since the last ping that it
// did not answer, and has not been silent for longer than limit.
func (s *silence) isWork(of driver.Host, limit time.Duration) bool {
	before, known := s.disk, s.known
	s.disk, s.known = of.Disk()
	if s.since.IsZero() {
		s.since = time.Now()
	}
	return known && s.known && s.disk.Since(before) && time.Since(s.since) < limit
}

// limit returns which limit was reached: that of a runtime that works on its disk, or ping.
func (s *silence) limit(ping, disk time.Duration) time.Duration {
	if time.Since(s.since) >= disk {
		return disk
	}
	return ping
}
