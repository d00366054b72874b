package supervisor

import (
	"slices"
	"time"
)

// Policy says what happens after a runtime died. The zero value means the
// defaults.
type Policy struct {
	Min    time.Duration // wait after the first death
	Max    time.Duration // longest wait; each one is twice the one before
	Limit  int           // so many deaths within Window are too many
	Window time.Duration
	Stable time.Duration // after living so long, the count begins anew
}

func (p Policy) orDefault() Policy {
	return Policy{
		Min: orElse(p.Min, 100*time.Millisecond), Max: orElse(p.Max, 30*time.Second),
		Limit: orElse(p.Limit, 5), Window: orElse(p.Window, time.Minute), Stable: orElse(p.Stable, time.Minute),
	}
}

// death is one end of a runtime that nobody asked for.
type death struct {
	at     time.Time
	uptime time.Duration // 0 for a start that failed
}

// next decides from the deaths so far, oldest first: start again after wait, or
// give up.
func (p Policy) next(deaths []death) (wait time.Duration, again bool) {
	if len(deaths) == 0 {
		return 0, true
	}
	last := deaths[len(deaths)-1].at
	recent, inRow := 0, 0
	for _, d := range slices.Backward(deaths) {
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

// forget drops deaths that cannot matter any more.
func (p Policy) forget(deaths []death) []death {
	for i := len(deaths) - 1; i > 0; i-- {
		if deaths[i].uptime >= p.Stable {
			return deaths[i:]
		}
	}
	const enough = 64 // by then the wait is the longest there is
	return deaths[max(0, len(deaths)-enough):]
}
