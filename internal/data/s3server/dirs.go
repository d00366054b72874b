package s3server

import "sync"

// syncedDirs are directories whose entries in their parents are on the disk, so that
// they need no fsync above a new object. A removal clears them, and none are added
// during a removal, because a directory may have been removed and created again. Safe
// for concurrent use.
type syncedDirs struct {
	mu       sync.Mutex
	known    map[string]bool
	removals epoch // removals begun
	running  int   // removals in progress
}

// epoch is a time between two removals.
type epoch int

// during is the epoch while a removal is in progress.
const during epoch = -1

// maxDirs bounds the memory: when it is exceeded, all directories are cleared.
const maxDirs = 10_000

// now is the current epoch. A writer takes it before it begins.
func (s *syncedDirs) now() epoch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at()
}

func (s *syncedDirs) at() epoch {
	if s.running > 0 {
		return during
	}
	return s.removals
}

// removing begins a removal; done ends it.
func (s *syncedDirs) removing() (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removals++
	s.running++
	s.known = nil
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running--
	}
}

// has reports whether dir is known, to a writer that began in an epoch.
func (s *syncedDirs) has(began epoch, dir string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return began == s.at() && s.known[dir]
}

// add adds directories that a writer has synced.
func (s *syncedDirs) add(began epoch, dirs []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if began != s.at() || began == during {
		return
	}
	if s.known == nil || len(s.known) > maxDirs {
		s.known = make(map[string]bool)
	}
	for _, dir := range dirs {
		s.known[dir] = true
	}
}
