package load

import "time"

// pace says when the next request of a connection begins.
type pace struct {
	due   time.Time
	every time.Duration // 0: immediately
}

// paceOf spreads the requests of a window evenly over its connections.
func (w Window) paceOf(conn int, began time.Time) pace {
	if w.Rate == 0 {
		return pace{}
	}
	each := time.Second / time.Duration(w.Rate)
	return pace{due: began.Add(time.Duration(conn) * each), every: time.Duration(w.Conns) * each}
}

// next waits for the time of the next request, and returns it. A request that is late
// because of the one before it counts from the time when it was due: otherwise a slow
// answer would hide those that it delayed.
func (p *pace) next() time.Time {
	if p.every == 0 {
		return time.Now()
	}
	due := p.due
	p.due = due.Add(p.every)
	time.Sleep(time.Until(due))
	return due
}
