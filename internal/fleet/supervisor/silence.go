package supervisor

import (
	"time"

	"github.com/svcctl/svcctl/internal/fleet/driver"
	"github.com/svcctl/svcctl/internal/lib/cputime"
)

// silence is the time since a runtime answered its last ping. workerd has one thread for its
// events and for the storage of Durable Objects, and waits there for the disk: a request that
// makes hundreds of objects lets no ping through, on a busy machine for longer than the
// thread would need to show that it is in a loop.
type silence struct {
	since time.Time
	spun  cputime.Thread // workerd's thread when it last waited for the disk, or at the first ping without an answer
	last  cputime.Thread // at the last one; both are valid if known
	known bool
	asked time.Time // when last was read
}

// excused reports whether the ping that was not answered says nothing about the worker, which has
// been silent for less than limit: since the one before, workerd's thread has waited for the disk, or
// for a processor of a busy machine. A thread that has run for as long as ran since it last
// waited for the disk is in a loop.
func (s *silence) excused(of driver.Host, ran, limit time.Duration) bool {
	now, known := of.Thread()
	return s.add(now, known, time.Now()) && time.Since(s.since) < limit && s.last.Ran-s.spun.Ran < ran
}

// add takes what the thread had done at a time, and reports whether it waited since the time before.
func (s *silence) add(now cputime.Thread, known bool, at time.Time) bool {
	before, compared, passed := s.last, s.known && known, at.Sub(s.asked)
	s.last, s.known, s.asked = now, known, at
	if s.since.IsZero() {
		s.since = at
	}
	if !compared || now.OnDisk(before) {
		s.spun = now
		return compared
	}
	return now.Starved(before, passed)
}

// limit returns which limit was reached: that of a runtime that waits for its disk or a processor, or
// ping.
func (s *silence) limit(ping, disk time.Duration) time.Duration {
	if time.Since(s.since) >= disk {
		return disk
	}
	return ping
}
