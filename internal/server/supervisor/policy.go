package supervisor

import (
	"cmp"
	"slices"
	"time"
)

// Policy says when a crashed runtime is restarted. Zero fields mean the defaults.
type Policy struct {
	Min    time.Duration // wait after the first crash
	Max    time.Duration // longest wait; each wait is twice the previous one
	Limit  int           // number of crashes within Window that is a crash loop
	Window time.Duration
	Stable time.Duration // uptime after which the wait starts at Min again
}

func (p Policy) orDefault() Policy {
	return Policy{
		Min: cmp.Or(p.Min, 100*time.Millisecond), Max: cmp.Or(p.Max, 30*time.Second),
		Limit: cmp.Or(p.Limit, 5), Window: cmp.Or(p.Window, time.Minute), Stable: cmp.Or(p.Stable, time.Minute),
	}
}

// crash is one end of a runtime that was not requested.
type crash struct {
	at     time.Time
	uptime time.Duration // 0 for a failed start
}

// next decides from the crashes so far, oldest first: restart after wait, or, for a
// crash loop, again false.
func (p Policy) next(crashes []crash) (wait time.Duration, again bool) {
	if len(crashes) == 0 {
		return 0, true
	}
	last := crashes[len(crashes)-1].at
	recent, inRow := 0, 0
	for _, d := range slices.Backward(crashes) {
		if last.Sub(d.at) < p.Window {
			recent++
		}
		inRow++
		if d.uptime >= p.Stable {
			break
		}
	}
	if recent >= p.Limit {
		return 0, false
	}
	wait = p.Min
	for range inRow - 1 {
		if wait *= 2; wait >= p.Max {
			return p.Max, true
		}
	}
	return wait, true
}

// trim drops crashes that no longer affect next.
func (p Policy) trim(crashes []crash) []crash {
	for i := len(crashes) - 1; i > 0; i-- {
		if crashes[i].uptime >= p.Stable {
			return crashes[i:]
		}
	}
	const enough = 64 // crashes after which the wait is Max
	return crashes[max(0, len(crashes)-enough):]
}
