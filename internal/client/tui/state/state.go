package state

import (
	"maps"
	"slices"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

const (
	maxLines  = 5000 // of a followed log
	maxEvents = 1000
	maxMemory = 60 // samples
)

// State is what is known of a server.
type State struct {
	Now      time.Time
	Since    time.Time // when the server was first asked
	Server   string    // its address
	Context  string    // name of the context; "" without one
	Contexts []string  // names to switch to
	ReadOnly bool

	Link    Link
	Events  []api.Event // the last ones, oldest first
	Queue   int         // length of the deploy queue, as of the last event; -1 if unknown
	Running map[Action]bool

	// Memory is the memory of all runtimes at each of the last times that it was measured.
	Memory []float64

	entries map[Need]*entry
	lines   map[Need][]api.LogLine
	counts  map[Need]int // of all lines that came, by log
}

type entry struct {
	value   any
	err     error
	at      time.Time
	stale   bool // to be read again
	loading bool
}

// New returns a State without any answer.
func New(now time.Time, server string) *State {
	return &State{
		Now: now, Since: now, Server: server, Queue: -1, Running: map[Action]bool{},
		entries: map[Need]*entry{}, lines: map[Need][]api.LogLine{}, counts: map[Need]int{},
	}
}

// Get returns the answer to a need; ok is false until there is one. err is the error of
// the last attempt, also beside an older answer.
func Get[T any](s *State, n Need) (value T, ok bool, err error) {
	e := s.entries[n]
	if e == nil {
		return value, false, nil
	}
	value, ok = e.value.(T)
	return value, ok, e.err
}

// Begin marks a need as loading. It returns false if it is loading, or loaded and not
// stale.
func (s *State) Begin(n Need) bool {
	e := s.entries[n]
	if e == nil {
		e = &entry{stale: true}
		s.entries[n] = e
	}
	if e.loading || !e.stale {
		return false
	}
	e.loading, e.stale = true, false
	return true
}

// maxEntries is the number of answers above which those that no screen shows are
// dropped.
const maxEntries = 300

// Prune drops answers about single versions that are not kept, if there are many.
func (s *State) Prune(keep []Need) {
	if len(s.entries) < maxEntries {
		return
	}
	maps.DeleteFunc(s.entries, func(n Need, e *entry) bool {
		return n.Version != "" && !e.loading && !slices.Contains(keep, n)
	})
}

// Refresh marks answers that are measured again and are too old.
func (s *State) Refresh(needs []Need) {
	for _, n := range needs {
		if e := s.entries[n]; e != nil && n.Kind.Every() > 0 && s.Now.Sub(e.at) >= n.Kind.Every() {
			e.stale = true
		}
	}
}

// Expire marks an answer as old, so that it is read again when a screen needs it.
func (s *State) Expire(n Need) {
	if e := s.entries[n]; e != nil {
		e.stale = true
	}
}

// ExpireAll marks answers as old, but for logs, which are followed.
func (s *State) ExpireAll(needs []Need) {
	for _, n := range needs {
		if n.Kind != Logs {
			s.Expire(n)
		}
	}
}

// Has reports whether there is an answer.
func (s *State) Has(n Need) bool { return s.entries[n] != nil && s.entries[n].value != nil }

// ReadAt returns when the answer to a need was read; zero without one.
func (s *State) ReadAt(n Need) time.Time {
	if e := s.entries[n]; e != nil {
		return e.at
	}
	return time.Time{}
}

// Answered reports whether a need was answered, well or not, and is not being read.
func (s *State) Answered(n Need) bool {
	e := s.entries[n]
	return e != nil && !e.loading && !e.stale && (e.value != nil || e.err != nil)
}

// Put takes an answer.
func (s *State) Put(l Loaded) {
	e := s.entries[l.Need]
	if e == nil {
		e = &entry{}
		s.entries[l.Need] = e
	}
	e.loading, e.err, e.at = false, l.Err, l.At
	if l.Err != nil {
		return
	}
	e.value = l.Value
	if l.Need.Kind == Summaries {
		s.measureMemory()
	}
	switch v := l.Value.(type) {
	case api.Version:
		s.putVersion(v)
	case api.Project:
		s.putProject(v)
	}
}

// putVersion updates the list of versions with a record.
func (s *State) putVersion(v api.Version) {
	e := s.entries[Need{Kind: Versions, Project: v.ProjectID}]
	if e == nil {
		return
	}
	list, _ := e.value.([]api.Version) // changed in place: only the state has it
	i := slices.IndexFunc(list, func(o api.Version) bool { return o.ID == v.ID })
	switch {
	case v.Status == api.VersionStatusDestroyed && i >= 0:
		list = slices.Delete(list, i, i+1)
	case v.Status == api.VersionStatusDestroyed:
	case i >= 0:
		list[i] = v
	default:
		at := slices.IndexFunc(list, func(o api.Version) bool { return o.CreatedAt.Before(v.CreatedAt.Time) })
		if at < 0 {
			at = len(list)
		}
		list = slices.Insert(list, at, v)
	}
	e.value = list
}

func (s *State) putProject(p api.Project) {
	e := s.entries[Need{Kind: Projects}]
	if e == nil {
		return
	}
	list, _ := e.value.([]api.Project)
	if i := slices.IndexFunc(list, func(o api.Project) bool { return o.ID == p.ID }); i >= 0 {
		list[i] = p
	} else {
		list = slices.Insert(list, 0, p)
	}
	e.value = list
}

// AddLines appends entries of a log and keeps the last ones.
func (s *State) AddLines(l Lines) {
	list := append(s.lines[l.Need], l.List...)
	if extra := len(list) - maxLines; extra > 0 {
		list = slices.Clone(list[extra:])
	}
	s.lines[l.Need] = list
	s.counts[l.Need] += len(l.List)
	s.entries[l.Need] = &entry{value: true} // answered
}

// LogLines returns the entries of a followed log, oldest first.
func (s *State) LogLines(n Need) []api.LogLine { return s.lines[n] }

// LogCount is the number of all entries of a followed log that came, also of those that are
// no longer kept.
func (s *State) LogCount(n Need) int { return s.counts[n] }

// Forget drops a log that is no longer followed.
func (s *State) Forget(n Need) {
	delete(s.lines, n)
	delete(s.counts, n)
	delete(s.entries, n)
}

// Reset marks everything as old: events may be missing.
func (s *State) Reset() {
	for n, e := range s.entries {
		e.stale = n.Kind != Logs
	}
}

// ProjectIDs returns the ids of the known projects, sorted.
func (s *State) ProjectIDs() []string {
	list, _, _ := Get[[]api.Project](s, Need{Kind: Projects})
	ids := make([]string, len(list))
	for i, p := range list {
		ids[i] = p.ID
	}
	slices.Sort(ids)
	return ids
}

// FindProject returns a known project.
func (s *State) FindProject(id string) (api.Project, bool) {
	list, _, _ := Get[[]api.Project](s, Need{Kind: Projects})
	i := slices.IndexFunc(list, func(p api.Project) bool { return p.ID == id })
	if i < 0 {
		p, ok, _ := Get[api.Project](s, Need{Kind: Project, Project: id})
		return p, ok
	}
	return list[i], true
}

// FindVersion returns a known version.
func (s *State) FindVersion(project, id string) (api.Version, bool) {
	list, _, _ := Get[[]api.Version](s, Need{Kind: Versions, Project: project})
	if i := slices.IndexFunc(list, func(v api.Version) bool { return v.ID == id }); i >= 0 {
		return list[i], true
	}
	v, ok, _ := Get[api.Version](s, Need{Kind: Version, Project: project, Version: id})
	return v, ok
}
