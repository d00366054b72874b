package supervisor

import (
	"cmp"
	"math/rand/v2"
	"time"
)

// Policy says when a crashed runtime is started again: the wait doubles with each crash
// and never becomes endless. Zero fields mean the defaults.
type Policy struct {
	Min    time.Duration // longest wait after the first crash
	Max    time.Duration // longest wait of a version for which Config.Wanted is true
	Idle   time.Duration // longest wait of other versions
	Asked  time.Duration // a request to a version that had served ends its wait this long after the crash
	Urgent time.Duration // Revive ends a wait this long after the crash
	Stable time.Duration // uptime after which the wait starts at Min again
}

func (p Policy) orDefault() Policy {
	return Policy{
		Min: cmp.Or(p.Min, 100*time.Millisecond), Max: cmp.Or(p.Max, time.Minute), Idle: cmp.Or(p.Idle, 10*time.Minute),
		Asked: cmp.Or(p.Asked, 10*time.Second), Urgent: cmp.Or(p.Urgent, time.Second), Stable: cmp.Or(p.Stable, time.Minute),
	}
}

// longest returns the longest wait after a number of crashes in a row.
func (p Policy) longest(crashes int, wanted bool) time.Duration {
	limit := p.Idle
	if wanted {
		limit = p.Max
	}
	wait := p.Min
	for range crashes - 1 {
		if wait *= 2; wait >= limit {
			break
		}
	}
	return min(wait, limit)
}

// wait returns a random wait between half of the longest one and the longest one, so
// that versions that crashed together do not start together.
func (p Policy) wait(crashes int, wanted bool) time.Duration {
	half := p.longest(crashes, wanted) / 2
	return half + rand.N(half+1) //nolint:gosec // not a secret
}
