package fleet

import (
	"cmp"
	"time"
)

// returnPause is how long after the start of a daemon, whose predecessor has vanished, no other machine has
// joined until those that are missing count as lost: twice the longest wait between two dials.
const returnPause = time.Second

// returning says which machines of an earlier daemon have dialed this one. Fleet.mu guards it.
type returning struct {
	nodes  map[string]bool // that a machine has joined from; a machine without one is its own
	paused bool            // no machine has joined for returnPause
	pause  *time.Timer     // until then
	timers []*time.Timer   // of moments after which versions may be opened elsewhere
}

// begin offers hosts when time alone has made them free for versions of an earlier daemon. It is
// called before machines join.
func (r *returning) begin(f *Fleet) {
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
	for _, t := range append(r.timers, r.pause) {
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
	if !f.back.paused {
		f.back.pause.Reset(returnPause)
	}
}

// nodeOf returns the node of a machine, which fails as a whole.
func (f *Fleet) nodeOf(machine string) string { return cmp.Or(f.cfg.Policy.Node(machine), machine) }

// isMissing reports whether a machine that an earlier daemon had counts as lost although this one has
// not waited for it for Config.Silence as for others: its permits have ended; the earlier daemon was silent
// before this one could start; other machines have found this one since, and no more come; and nothing has been heard
// of the whole node. The caller holds f.mu.
func (f *Fleet) isMissing(machine string, now time.Time) bool {
	switch {
	case now.Before(f.cfg.Inherited):
		return false
	case machine == "": // whatever had the version is no machine any more
		return true
	case now.Sub(f.started) >= min(f.cfg.Silence, returnLimit):
		return true
	}
	return f.cfg.Vanished && f.back.paused && !f.back.nodes[f.nodeOf(machine)]
}
