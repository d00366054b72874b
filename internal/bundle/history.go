package bundle

import (
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// History is how long points of the past are kept, in seconds: see svc.History. What is nil is as the server
// has it, which also is the most.
type History struct {
	Seconds *int64 `json:"seconds,omitempty"`
	Minutes *int64 `json:"minutes,omitempty"`
	Hours   *int64 `json:"hours,omitempty"`
	MaxSize int64  `json:"max_size,omitempty"` // bytes; 0 as the server has it
}

// NoHistory keeps nothing.
func NoHistory() *History { return &History{new(int64), new(int64), new(int64), 0} }

// History is how long the points of a project are kept whose production has the bundle, on a server with a
// maximum.
func (m Manifest) History(most svc.History) svc.History {
	if m.Release == nil || m.Release.History == nil {
		return most
	}
	h, keep := m.Release.History, most
	for _, tier := range []struct {
		says *int64
		to   *time.Duration
	}{{h.Seconds, &keep.Seconds}, {h.Minutes, &keep.Minutes}, {h.Hours, &keep.Hours}} {
		if tier.says != nil {
			*tier.to = min(*tier.to, time.Duration(*tier.says)*time.Second)
		}
	}
	return keep.Least(svc.History{Seconds: keep.Seconds, Minutes: keep.Minutes, Hours: keep.Hours, MaxSize: h.MaxSize})
}

// KeepsHistory reports whether a version with the bundle makes points, on a server that keeps some.
func (m Manifest) KeepsHistory() bool {
	return !m.History(svc.History{Seconds: svc.MaxHistory, Minutes: svc.MaxHistory, Hours: svc.MaxHistory}).Off()
}

// history checks Release.History.
func (p *problems) history(h *History) {
	if h == nil {
		return
	}
	for _, n := range []*int64{h.Seconds, h.Minutes, h.Hours} {
		if n != nil && (*n < 0 || *n > int64(svc.MaxHistory/time.Second)) {
			p.add("/release/history", svc.CodeManifestInvalid, "want times of 0 to %d seconds", int64(svc.MaxHistory/time.Second))
		}
	}
	if h.MaxSize < 0 {
		p.add("/release/history/max_size", svc.CodeManifestInvalid, "want a size above 0")
	}
}
