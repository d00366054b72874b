package branch

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// wanted tells whether the version's data is for anything. What the registry
// says counts most. Without it a manifest alone counts, its child may be about
// to open for the first time.
func (m *member) wanted() bool {
	switch {
	case m.fate != nil:
		return m.fate.Wanted
	case m.orphan:
		return false
	case m.record == nil:
		return m.manifest != nil
	default:
		return m.record.State != StateDestroying
	}
}

// elsewhere tells whether another host than this one owns the version.
func (m *member) elsewhere(host string) bool {
	return host != "" && m.record != nil && m.record.State == StateLive && m.record.Owner != "" && m.record.Owner != host
}

// unmarked tells whether the version is unwanted, and its record does not say so.
func (m *member) unmarked() bool {
	opened := m.record != nil && m.record.State != StateDestroying
	return !m.wanted() && (opened || m.record == nil && m.manifest != nil)
}

// released is since when an unwanted version does not hold its manifest's files
// any more: now, as long as its record does not say so.
func (m *member) released() time.Time {
	if m.record == nil || m.record.State != StateDestroying {
		return time.Now()
	}
	return m.record.changed
}

// byStore groups the files that a version's stores are restored from: its own
// and those of its manifest.
func (m *member) byStore() map[string][]File {
	stores := map[string][]File{}
	for _, f := range m.files {
		name := f.Prefix[strings.LastIndexByte(f.Prefix, '/')+1:]
		stores[name] = append(stores[name], f)
	}
	if m.manifest != nil {
		for name, base := range m.manifest.Stores {
			stores[name] = append(stores[name], base.Files...)
		}
	}
	return stores
}

// needs gives the files that a wanted version cannot do without: its manifest,
// what its record offers to forks,
// every file of its own that is not dead, its current restore plans, and the
// newest level 0 file of each store, from which readers learn its position. It
// fails when the version could not be restored without its dead files: then
// the dead lists are wrong and nothing of it may be deleted.
func (m *member) needs() (map[id]bool, error) {
	need := map[id]bool{}
	m.eachInherited(func(f File) { need[f.id()] = true })
	m.record.eachCut(func(f File) { need[f.id()] = true })
	for store, files := range m.byStore() {
		end, hole := Position(files)
		if hole {
			return nil, fmt.Errorf("store %s of %s has a hole after transaction %d: %w", store, m.ref, end, ErrNotRestorable)
		}
		alive := slices.DeleteFunc(files, func(f File) bool {
			_, dead := m.dead[f.id()]
			return dead && (f.Level != 0 || f.Max != end)
		})
		if _, err := Plan(alive, end); err != nil {
			return nil, fmt.Errorf("store %s of %s, without its dead files: %w", store, m.ref, err)
		}
		for _, f := range alive {
			need[f.id()] = true
		}
	}
	return need, nil
}

// everything gives all that the version has and inherits.
func (m *member) everything() map[id]bool {
	all := map[id]bool{}
	for _, f := range m.files {
		all[f.id()] = true
	}
	m.eachInherited(func(f File) { all[f.id()] = true })
	return all
}

// eachInherited calls do for every file of the manifest.
func (m *member) eachInherited(do func(File)) { m.manifest.eachFile(do) }

// eachCut calls do for every file that the record offers to forks; there may be
// no record.
func (r *Record) eachCut(do func(File)) {
	if r != nil {
		r.Cut.eachFile(do)
	}
}

// eachFile calls do for every file of a manifest, which may be nil.
func (m *Manifest) eachFile(do func(File)) {
	if m == nil {
		return
	}
	for _, base := range m.Stores {
		for _, f := range base.Files {
			do(f)
		}
	}
}
