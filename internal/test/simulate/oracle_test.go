//go:build simulate

package simulate

// checkAcknowledged checks, when a write is acknowledged, that it may be. committed is when its
// transaction had ended.
func (w *world) checkAcknowledged(wr *write, committed int) {
	p := wr.process
	if p.synced[wr.database] < committed {
		w.violate("unsynced", "%s acknowledged write %d, which is neither on its disk nor in the object store", p.name, wr.id)
	}
	for _, q := range p.version.processes {
		switch {
		case w.sync && q.tookOver(p, wr.began):
			w.violate("fenced", "%s acknowledged write %d after %s had taken over", p.name, wr.id, q.name)
		case !w.sync && q.tookOver(p, wr.ended):
			w.stats["acknowledgments of an old owner, async"]++
			wr.lost = true
		}
	}
}

// reading is what was found in a database.
type reading struct {
	version      *version
	database     string
	ids          []int64
	began, ended int
	what         string
	by           *process // nil at the end of the run
}

// check compares a reading with the model.
func (w *world) check(r reading) {
	have, inherited := ids{}, ids{}
	for _, id := range r.ids {
		have[id] = true
		wr := w.writes[id]
		switch {
		case wr == nil || wr.database != r.database:
			w.violate("phantom", "%s: %s has %d, which was never written there", r.what, r.database, id)
		case wr.began > r.ended:
			w.violate("phantom", "%s: %s has %d, which was written later", r.what, r.database, id)
		case wr.version == r.version:
			w.checkOwn(r, wr)
		default:
			inherited[id] = true
			w.checkAncestor(r, wr)
		}
	}
	w.checkPresent(r, have)
	w.checkBase(r, have, inherited)
}

// checkOwn checks a write of the version itself that is there.
func (w *world) checkOwn(r reading, wr *write) {
	if w.sync && r.by != nil && wr.ended == 0 {
		wr.ended = r.ended // a client that has read it may rely on it
	}
	if r.version.absent[wr.id] {
		w.violate("resurrected", "%s: write %d was missing before and is there now", r.what, wr.id)
	}
}

// checkPresent checks that acknowledged writes are there, and remembers those that are not.
func (w *world) checkPresent(r reading, have ids) {
	for _, wr := range w.own(r.version) {
		if wr.database != r.database || have[wr.id] {
			continue
		}
		if wr.ended > 0 && wr.ended < r.began && !wr.lost {
			w.violate("lost", "%s: %s lacks write %d, which was acknowledged by %s", r.what, r.database, wr.id, wr.process.name)
		}
		if (wr.ended == 0 || wr.lost) && wr.process != r.by && wr.process.dead && r.by != nil {
			r.version.absent[wr.id] = true
		}
	}
}
