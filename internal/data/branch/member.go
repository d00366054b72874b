package branch

import (
	"fmt"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// wanted reports whether the version's data is needed. The registry decides.
// Without it a manifest without a record counts, because the child may be about
// to open for the first time.
func (m *member) wanted() bool {
	switch {
	case m.registered != nil:
		return m.registered.Wanted
	case m.orphan:
		return false
	case m.record == nil:
		return m.manifest != nil
	default:
		return m.record.State != StateDestroying
	}
}

// ownedElsewhere reports whether another node than this one owns the version.
func (m *member) ownedElsewhere(node string) bool {
	return node != "" && m.record != nil && m.record.State == StateLive && m.record.Owner != "" && svc.DaemonOf(m.record.Owner) != node
}

// unmarked reports whether the version is unwanted and its record does not say so.
func (m *member) unmarked() bool {
	opened := m.record != nil && m.record.State != StateDestroying
	return !m.wanted() && (opened || m.record == nil && m.manifest != nil)
}

// released is since when an unwanted version does not need the files of its
// manifest: now, as long as its record is not marked.
func (m *member) released() time.Time {
	if m.record == nil || m.record.State != StateDestroying {
		return time.Now()
	}
	return m.record.changed
}

// byDatabase groups the files that a version's databases are restored from: its own
// and those of its manifest.
func (m *member) byDatabase() map[string][]File {
	databases := map[string][]File{}
	for _, f := range m.files {
		name := databaseOf(f.Prefix)
		databases[name] = append(databases[name], f)
	}
	if m.manifest != nil {
		for name, base := range m.manifest.Databases {
			databases[name] = append(databases[name], base.Files...)
		}
	}
	return databases
}

// needs returns the files that a wanted version requires: those of its manifest
// and of its record's cut, every file of its own that is not dead, its current
// restore plans, and the newest level 0 file of each database, which gives its
// position, and what the points of its history need. It fails when the version could not be restored without its dead
// files: then the dead lists are wrong and nothing of the version may be deleted.
func (m *member) needs(grace time.Duration) (map[id]bool, error) {
	need := m.findPast(grace).files
	m.eachInherited(func(f File) { need[f.id()] = true })
	m.record.eachCut(func(f File) { need[f.id()] = true })
	for database, files := range m.byDatabase() {
		end, hole := Position(files)
		if hole {
			return nil, fmt.Errorf("database %s of %s has a hole after transaction %d: %w", database, m.ref, end, ErrNotRestorable)
		}
		alive := slices.DeleteFunc(files, func(f File) bool {
			_, dead := m.dead[f.id()]
			return dead && (f.Level != 0 || f.Max != end)
		})
		if _, err := Plan(alive, end); err != nil {
			return nil, fmt.Errorf("plan database %s of %s without its dead files: %w", database, m.ref, err)
		}
		for _, f := range alive {
			if f.Pack == "" {
				need[f.id()] = true
			}
		}
	}
	return need, nil
}

// everything returns all files that the version has or inherits.
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

// eachCut calls do for every file of the record's cut. The record may be nil.
func (r *Record) eachCut(do func(File)) {
	if r != nil {
		r.Cut.eachFile(do)
	}
}

// eachFile calls do for every file of a manifest, which may be nil, that is an object of its own.
func (m *Manifest) eachFile(do func(File)) {
	m.each(func(f File) {
		if f.Pack == "" {
			do(f)
		}
	})
}

// eachPack calls do for every file of a manifest, which may be nil, in a history object.
func (m *Manifest) eachPack(do func(File)) {
	m.each(func(f File) {
		if f.Pack != "" {
			do(f)
		}
	})
}

func (m *Manifest) each(do func(File)) {
	if m == nil {
		return
	}
	for _, base := range m.Databases {
		for _, f := range base.Files {
			do(f)
		}
	}
}
