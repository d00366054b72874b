package machines

import (
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// demandPause gathers what changes at the same time: with thousands of machines each look at them counts.
const demandPause = 20 * time.Millisecond

// suspectAfter is the silence of a machine after which a spare for its version is started: a new one takes
// as long to start as the machine has left until it counts as lost.
func (c *Config) suspectAfter() time.Duration { return c.Silence * 3 / 5 }

// suspect notes that h has not answered for suspectAfter, if it has a version.
func (h *host) suspect() {
	h.mu.Lock()
	has, left := h.version != (svc.Ref{}), h.fleet.cfg.suspectAfter()-time.Since(h.answer)
	h.mu.Unlock()
	if left > 0 {
		h.suspicion.Reset(left) // it has dialed again since
		return
	}
	if !has || !h.suspected.CompareAndSwap(false, true) {
		return
	}
	h.fleet.suspected.Add(1)
	select {
	case <-h.exited: // meanwhile
		h.clearSuspicion()
	default:
		h.fleet.updateDemandSoon()
	}
}

// clearSuspicion ends what suspect has begun: h has answered, or is lost. It does not block.
func (h *host) clearSuspicion() {
	if h.suspected.CompareAndSwap(true, false) {
		h.fleet.suspected.Add(-1)
		h.fleet.updateDemandSoon()
	}
}

// updateDemandSoon calls updateDemand, once for all calls within demandPause.
func (f *Fleet) updateDemandSoon() {
	if f.updating.CompareAndSwap(false, true) {
		time.AfterFunc(demandPause, func() {
			f.updating.Store(false)
			f.mu.Lock()
			defer f.mu.Unlock()
			f.updateDemand(nil)
		})
	}
}

// updateDemand tells the Policy how many more spares are needed, if that has changed. c are the choices that are
// left; nil if the caller has none. The caller holds f.mu.
func (f *Fleet) updateDemand(c *choices) {
	need := int(f.suspected.Load())
	if len(f.wanting) > 0 || need > 0 {
		if c == nil {
			c = f.choices()
		}
		need = max(need+f.missingSpares(c)-f.free(c), 0)
	}
	if need != f.demand {
		f.demand = need
		f.cfg.Policy.Want(need)
	}
}

// missingSpares counts the versions that wait for a spare, not for a machine that they had. The caller holds f.mu.
func (f *Fleet) missingSpares(c *choices) (n int) {
	now := time.Now()
	isGone := func(m string) bool { return f.back.quiet && f.isSilent(m) || f.isAway(m, now) }
	for _, w := range f.wanting {
		own := w.last.Unshipped && now.Sub(w.began) < f.cfg.Silence // the next host of its machine
		if !own && !f.mayReturn(w, c, isGone) {
			n++
		}
	}
	return n
}

// free counts the spares that any version may get. The caller holds f.mu.
func (f *Fleet) free(c *choices) (n int) {
	for _, h := range c.spares {
		if f.cfg.Policy.IsFree(h.machine) {
			n++
		}
	}
	return n
}
