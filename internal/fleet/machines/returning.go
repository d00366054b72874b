package machines

import (
	"cmp"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// returnPause is how long after the start of a daemon, whose predecessor has vanished, no other machine has
// joined until those that are missing count as lost: twice the longest wait between two dials.
const returnPause = time.Second

// returnQuiet is the same for spares: they are started for versions whose machines seem to be missing.
const returnQuiet = returnPause / 4

// returning says which machines of an earlier daemon have dialed this one. Fleet.mu guards it.
type returning struct {
	nodes      map[string]bool // that a machine has joined from; a machine without one is its own
	quiet      bool            // no machine has joined for returnQuiet
	paused     bool            // nor for returnPause
	quietTimer *time.Timer     // until then
	pause      *time.Timer
	timers     []*time.Timer // of moments after which versions may be opened elsewhere
}

// begin offers hosts when time alone has made them free for versions of an earlier daemon. It is
// called before machines join.
func (r *returning) begin(f *Fleet) {
	r.quietTimer = time.AfterFunc(returnQuiet, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		r.quiet = len(r.nodes) > 0
		f.updateDemand(nil)
	})
	r.pause = time.AfterFunc(returnPause, func() {
		f.mu.Lock()
		r.paused = len(r.nodes) > 0
		f.mu.Unlock()
		f.offer()
	})
	for _, in := range []time.Duration{f.cfg.Silence, time.Until(f.cfg.Inherited)} {
		r.timers = append(r.timers, time.AfterFunc(in, f.offer))
	}
}

// end stops what begin has begun, if it has.
func (r *returning) end() {
	for _, t := range append(r.timers, r.quietTimer, r.pause) {
		if t != nil {
			t.Stop()
		}
	}
}

// saw notes that a machine has joined. The caller holds f.mu.
func (f *Fleet) saw(machine string) {
	if f.seen[machine] {
		return
	}
	f.seen[machine] = true
	f.back.nodes[f.nodeOf(machine)] = true
	if !f.back.quiet {
		f.back.quietTimer.Reset(returnQuiet)
	}
	if !f.back.paused {
		f.back.pause.Reset(returnPause)
	}
}

// nodeOf returns the node of a machine, which fails as a whole.
func (f *Fleet) nodeOf(machine string) string { return cmp.Or(f.cfg.Policy.Node(machine), machine) }

// remember notes where an earlier daemon may have had the version of w.
func (f *Fleet) remember(w *want) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.last.Session == "" {
		w.claimed, w.ran = f.cfg.Policy.Has(w.spec.Ref), f.cfg.Ran(w.spec.Ref) && !f.had[w.spec.Ref]
	}
}

// has notes that this daemon gives a version to a machine, while permits of an earlier one may be valid.
func (f *Fleet) has(ref svc.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Now().Before(f.cfg.Inherited) {
		f.had[ref] = true
	}
}

// waits reports whether w waits for a machine that an earlier daemon had the version on: it dials soon, or its
// permits may be valid. The caller holds f.mu.
func (f *Fleet) waits(w *want, c *choices) bool {
	now := time.Now()
	return w.ran && now.Before(f.cfg.Inherited) || f.mayReturn(w, c, func(m string) bool { return f.isMissing(m, now) })
}

// mayReturn reports whether a machine may have the version of w since an earlier daemon, by what isGone says
// of machines. One that has joined without the version has it no more. The caller holds f.mu.
func (f *Fleet) mayReturn(w *want, c *choices, isGone func(machine string) bool) bool {
	if w.last.Session != "" {
		return !isGone(w.last.Machine)
	}
	cut := len(c.returned[w.spec.Ref]) > 0 // it has joined with the version, and dials again
	return slices.ContainsFunc(w.claimed, func(m string) bool { return (cut || !f.seen[m]) && !isGone(m) })
}

// isMissing reports whether a machine that an earlier daemon had counts as lost although this one has
// not waited for it for Config.Silence as for others: its permits have ended; the earlier daemon was silent
// before this one could start; other machines have found this one since, and no more come; and nothing has been heard
// of the whole node. The caller holds f.mu.
func (f *Fleet) isMissing(machine string, now time.Time) bool {
	return !now.Before(f.cfg.Inherited) && f.isAway(machine, now)
}

// isAway is isMissing for a machine whose permits may not have ended.
func (f *Fleet) isAway(machine string, now time.Time) bool {
	switch {
	case machine == "": // whatever had the version is no machine any more
		return true
	case now.Sub(f.started) >= min(f.cfg.Silence, returnLimit):
		return true
	}
	return f.back.paused && f.isSilent(machine)
}

// isSilent reports whether nothing has been heard of the node of a machine since the daemon before has
// vanished. The caller holds f.mu.
func (f *Fleet) isSilent(machine string) bool {
	return f.cfg.Vanished && !f.back.nodes[f.nodeOf(machine)]
}
