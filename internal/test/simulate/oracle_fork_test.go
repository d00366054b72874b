//go:build simulate

package simulate

// checkAncestor checks a write that another version made: it must be an ancestor's, before the cut.
func (w *world) checkAncestor(r reading, wr *write) {
	c := r.version
	for c.parent != nil && c.parent != wr.version {
		c = c.parent
	}
	switch {
	case c.parent == nil:
		w.violate("foreign", "%s: %s has write %d of %s, which is no ancestor", r.what, r.database, wr.id, wr.version.id)
	case wr.began > c.cut:
		w.violate("cut", "%s: %s has write %d of %s, which is after the cut of %s", r.what, r.database, wr.id, wr.version.id, c.id)
	}
}

// checkBase checks what a version has inherited: all that was acknowledged before its fork, and always
// the same.
func (w *world) checkBase(r reading, have, inherited ids) {
	v := r.version
	for id := range v.must[r.database] {
		if !have[id] {
			w.violate("cut", "%s: %s lacks write %d, which was acknowledged before its fork", r.what, r.database, id)
		}
	}
	if v.parent == nil {
		return
	}
	base := v.base[r.database]
	if base == nil {
		v.base[r.database] = inherited
		w.checkMoment(r)
		return
	}
	for id := range base {
		if !inherited[id] {
			w.violate("base", "%s: %s lacks write %d of its ancestors, which it had", r.what, r.database, id)
		}
	}
	for id := range inherited {
		if !base[id] {
			w.violate("base", "%s: %s has write %d of its ancestors, which it had not", r.what, r.database, id)
		}
	}
}

// checkMoment checks that a fork is one moment of both databases: a write that a client sent after
// another one was acknowledged is not there without it.
func (w *world) checkMoment(r reading) {
	v := r.version
	if len(v.base) < len(databases) {
		return
	}
	for _, wr := range w.own(v.parent) {
		before := wr.after
		if before != nil && v.base[wr.database][wr.id] && !v.base[before.database][before.id] && !before.lost {
			w.violate("moment", "%s: the fork has write %d and lacks %d, which was acknowledged before", r.what, wr.id, before.id)
		}
	}
}

// mustHave is what a fork of v that begins now must have inherited.
func (w *world) mustHave(v *version, database string) ids {
	must := ids{}
	for id := range v.must[database] {
		must[id] = true
	}
	for id := range v.base[database] {
		must[id] = true
	}
	for _, wr := range w.own(v) {
		if wr.database == database && wr.ended > 0 && !wr.lost {
			must[wr.id] = true
		}
	}
	return must
}
