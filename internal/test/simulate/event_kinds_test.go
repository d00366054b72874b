//go:build simulate

package simulate

import "time"

func (v *version) serves() bool { return v.newest != nil && v.state == isLive }
func (v *version) idle() bool   { return v.serves() && !v.busy }

// alone reports whether no process but p of the version lives, on a machine or on all (nil).
func (v *version) alone(p *process, m *machine) bool {
	for _, q := range v.processes {
		if !q.dead && q != p && (m == nil || q.machine == m) {
			return false
		}
	}
	return true
}

func (w *world) aWrite() {
	v, ok := pick(w, w.where((*version).serves))
	if !ok {
		return
	}
	p := v.newest
	if w.chance(.2) { // an old owner that has not noticed
		for _, q := range v.processes {
			if q.serves() {
				p = q
				break
			}
		}
	}
	w.client(p, w.rng.IntN(2), w.chance(.4))
}

func (w *world) aRead() {
	v, ok := pick(w, w.where((*version).serves))
	if !ok {
		return
	}
	p := v.newest
	for _, q := range v.processes {
		if q.serves() && w.chance(.3) {
			p = q
		}
	}
	w.reader(p, databases[w.rng.IntN(2)])
}

func (w *world) aFork() {
	parents := w.where((*version).idle)
	if w.chance(.3) {
		parents = w.where(func(v *version) bool { return v.state == isArchived && !v.busy && v.newest == nil })
	}
	if v, ok := pick(w, parents); ok && len(w.versions) < 7 {
		w.fork(v)
	}
}

func (w *world) aStart() {
	v, ok := pick(w, w.where(func(v *version) bool {
		return v.newest == nil && !v.busy && (v.state == isLive || v.state == isArchived)
	}))
	m := w.machines[w.rng.IntN(len(w.machines))]
	if !ok || !v.alone(nil, m) {
		return
	}
	if n := len(v.processes); n > 0 && v.processes[n-1].machine != m {
		w.loosen(v)
	}
	v.state = isLive
	w.start(v, m)
}

// aTakeover cuts an owner and its machine off from the object store, and starts the version on the
// other machine.
func (w *world) aTakeover() {
	v, ok := pick(w, w.where((*version).idle))
	if !ok || w.partitioned() || !v.alone(v.newest, nil) {
		return
	}
	p := v.newest
	w.trace.add("cut off %s", p.machine.name)
	w.stats["takeovers"]++
	p.cutOff, p.machine.lease.cutOff = true, true
	w.loosen(v)
	w.start(v, w.other(p.machine))
}

func (w *world) aDeath() {
	v, ok := pick(w, w.where(func(v *version) bool { return len(v.processes) > 0 }))
	if !ok {
		return
	}
	for _, p := range v.processes {
		if p.serves() || !p.dead && w.chance(.3) {
			if p.readyAt == 0 {
				v.vacate()
			}
			w.kill(p, []string{exit, exit, lost, noPower}[w.rng.IntN(4)])
			return
		}
	}
}

func (w *world) anArchive() {
	if v, ok := pick(w, w.where((*version).idle)); ok && v.alone(v.newest, nil) && v.newest.writing == 0 {
		w.archive(v)
	}
}

func (w *world) aDestroy() {
	v, ok := pick(w, w.where(func(v *version) bool { return v.state != isGone && v.state != isNew && !v.busy }))
	if ok && len(w.where(func(v *version) bool { return v.state == isLive })) > 1 {
		w.destroy(v)
	}
}

func (w *world) aShip() {
	if v, ok := pick(w, w.where((*version).serves)); ok {
		w.ship(v.newest)
	}
}

func (w *world) aSweep() { w.sweep(time.Duration(1+w.rng.IntN(60)) * time.Second) }
