package machines

import (
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// askPause gathers what changes at the same time: with thousands of machines each look at them counts.
const askPause = 20 * time.Millisecond

// doubtAfter is the silence of a machine after which a spare for its version is started: a new one takes
// as long to start as the machine has left until it counts as lost.
func (c *Config) doubtAfter() time.Duration { return c.Silence * 3 / 5 }

// doubts notes that h has not answered for doubtAfter, if it has a version.
func (h *host) doubts() {
	h.mu.Lock()
	has, left := h.version != (svc.Ref{}), h.fleet.cfg.doubtAfter()-time.Since(h.answer)
	h.mu.Unlock()
	if left > 0 {
		h.doubt.Reset(left) // it has dialed again since
		return
	}
	if !has || !h.doubted.CompareAndSwap(false, true) {
		return
	}
	h.fleet.doubted.Add(1)
	select {
	case <-h.exited: // meanwhile
		h.trust()
	default:
		h.fleet.askSoon()
	}
}

// trust ends what doubts has begun: h has answered, or is lost. It does not block.
func (h *host) trust() {
	if h.doubted.CompareAndSwap(true, false) {
		h.fleet.doubted.Add(-1)
		h.fleet.askSoon()
	}
}

// askSoon calls ask, once for all calls within askPause.
func (f *Fleet) askSoon() {
	if f.asking.CompareAndSwap(false, true) {
		time.AfterFunc(askPause, func() {
			f.asking.Store(false)
			f.mu.Lock()
			defer f.mu.Unlock()
			f.ask(nil)
		})
	}
}

// ask says to the Policy how many more spares are needed, if that has changed. c are the choices that are left;
// nil if the caller has none. The caller holds f.mu.
func (f *Fleet) ask(c *choices) {
	need := int(f.doubted.Load())
	if len(f.wanting) > 0 || need > 0 {
		if c == nil {
			c = f.choices()
		}
		need = max(need+f.lackSpare(c)-f.free(c), 0)
	}
	if need != f.asked {
		f.asked = need
		f.cfg.Policy.Want(need)
	}
}

// lackSpare counts the versions that wait for a spare, not for a machine that they had. The caller holds f.mu.
func (f *Fleet) lackSpare(c *choices) (n int) {
	now := time.Now()
	isGone := func(m string) bool { return f.back.lulled && f.isSilent(m) || f.isAway(m, now) }
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
