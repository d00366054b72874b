package machines

import (
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// choices are the hosts that offer can give, listed once for all versions that wait: with thousands
// of both, a list for each version would take minutes after the change of a leader.
type choices struct {
	returned map[svc.Ref][]*host // that came with their version
	spares   []*host             // in the order in which they joined
	versions map[string]int      // of each machine
}

// choices needs f.mu.
func (f *Fleet) choices() *choices {
	c := &choices{returned: map[svc.Ref][]*host{}, versions: map[string]int{}}
	for _, h := range f.hosts {
		switch {
		case h.taken:
			c.versions[h.machine]++
		case h.mark != "":
			c.returned[h.ref] = append(c.returned[h.ref], h)
		}
	}
	for _, h := range f.spares() {
		if h.isUp() {
			c.spares = append(c.spares, h)
		}
	}
	return c
}

// give takes the host for w out of c; nil for none yet. The caller holds f.mu.
func (f *Fleet) give(w *want, c *choices) *host {
	h := f.choose(w, c)
	if h != nil {
		h.taken = true
		c.versions[h.machine]++
		c.spares = slices.DeleteFunc(c.spares, func(s *host) bool { return s == h })
	}
	return h
}

// choose returns the host for w, nil for none yet. The caller holds f.mu.
func (f *Fleet) choose(w *want, c *choices) *host {
	for _, h := range c.returned[w.spec.Ref] {
		if h.taken || !h.isUp() {
			continue
		}
		if h.mark == w.mark {
			return h
		}
		h.taken = true // it runs with other settings
		h.Kill()
	}
	if f.waits(w, c) {
		return nil
	}
	spares := c.spares
	if w.last.Unshipped && time.Since(w.began) < f.cfg.Silence {
		spares = slices.DeleteFunc(slices.Clone(spares), func(h *host) bool { return h.machine != w.last.Machine })
	}
	if len(spares) == 0 {
		return nil
	}
	list := make([]Spare, len(spares))
	for i, h := range spares {
		list[i] = Spare{Machine: h.machine, Versions: c.versions[h.machine]}
	}
	if i := f.cfg.Policy.Choose(w.spec.Ref, w.last.Machine, list); i >= 0 {
		return spares[i]
	}
	return nil
}
