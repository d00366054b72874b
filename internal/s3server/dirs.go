package s3server

import "sync"

// syncedDirs are directories that need not be looked for above an object again:
// the entry of each in the one above it is on the disk. Nothing is known while
// something is removed, and what was known before counts no more: a directory
// may have gone and come back. Safe for concurrent use.
type syncedDirs struct {
	mu       sync.Mutex
	known    map[string]bool
	removals moment // that have begun
	underWay int    // removals
}

// moment is a time between two removals.
type moment int

// during is a moment while something is removed.
const during moment = -1

// mostDirs bounds the memory: what is more is forgotten, all at once.
const mostDirs = 10_000

// now is for writers, before they begin.
func (s *syncedDirs) now() moment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at()
}

func (s *syncedDirs) at() moment {
	if s.underWay > 0 {
		return during
	}
	return s.removals
}

// removing begins a removal; done ends it.
func (s *syncedDirs) removing() (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removals++
	s.underWay++
	s.known = nil
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.underWay--
	}
}

// has tells whether dir is known, to a writer that began at a moment.
func (s *syncedDirs) has(began moment, dir string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return began == s.at() && s.known[dir]
}

// add makes directories known that a writer has put on the disk.
func (s *syncedDirs) add(began moment, dirs []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if began != s.at() || began == during {
		return
	}
	if s.known == nil || len(s.known) > mostDirs {
		s.known = make(map[string]bool)
	}
	for _, dir := range dirs {
		s.known[dir] = true
	}
}
