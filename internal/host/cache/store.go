package cache

import (
	"container/list"
	"net/http"
	"sync"
	"time"
)

const (
	blockSize   = 4 << 10 // bytes: what the smallest file takes on a disk
	maxVariants = 32      // stored responses of one key that Vary tells apart
	maxMemory   = 16 << 20
	memoryShare = 16 // memory is this part of the limit, at most maxMemory
	bodyShare   = 8  // a body in memory is at most this part of it
)

// store keeps entries within limits: the least recently used one goes first, from
// memory and from disk.
type store struct {
	dir    string
	disk   int64 // limits in bytes
	memory int64

	mu        sync.Mutex // guards what follows, and the entries
	listed    bool       // dir was read
	entries   map[key][]*entry
	recent    list.List // of *entry, the last used one first
	used      int64     // bytes on disk, of entries and of files that are being written
	inMemory  list.List // of *entry with a body in memory, the last used one first
	usedThere int64
}

// entry is one stored response.
type entry struct {
	key   key
	name  string // of its file
	bytes int64  // on disk
	trust bool   // this process wrote or verified the file
	meta  *meta  // nil until the file was read
	place *list.Element

	loaded      *found // with its body in memory; nil while it is only on disk
	loadedPlace *list.Element
}

func newStore(dir string, limit int64) *store {
	s := &store{dir: dir, disk: limit, memory: min(limit/memoryShare, maxMemory), entries: map[key][]*entry{}}
	s.recent.Init()
	s.inMemory.Init()
	return s
}

// maxBody is the size of the largest body that is kept in memory.
func (s *store) maxBody() int64 { return s.memory / bodyShare }

// find gives the stored response that answers a request, or nil. The caller closes it.
func (s *store) find(k key, request http.Header, now time.Time) (*found, error) {
	e := s.look(k, request, now)
	if e == nil {
		return nil, nil // a miss is no error
	}
	if f := s.fromMemory(e); f != nil {
		return f, nil
	}
	f, err := readFile(s.path(e.name), s.maxBody(), false)
	if err != nil {
		s.drop(e)
		return nil, ignoreMissing(err)
	}
	s.keep(e, f)
	return f, nil
}

// look finds the entry and makes it the last used one.
func (s *store) look(k key, request http.Header, now time.Time) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list()
	for _, e := range s.fresh(k, now) {
		if e.meta.selects(request) {
			s.recent.MoveToFront(e.place)
			return e
		}
	}
	return nil
}

// fresh gives the entries of a key that may be used, and removes the others. It needs
// the mutex.
func (s *store) fresh(k key, now time.Time) (fresh []*entry) {
	for _, e := range append([]*entry(nil), s.entries[k]...) {
		if !s.verify(e) || !now.Before(e.meta.expires) {
			s.remove(e)
			continue
		}
		fresh = append(fresh, e)
	}
	return fresh
}

// verify reads what is known of an entry that an earlier process wrote, once, and
// reports whether its file is whole. It needs the mutex.
func (s *store) verify(e *entry) bool {
	if e.trust {
		return true
	}
	f, err := readFile(s.path(e.name), 0, true)
	if err != nil {
		return false
	}
	f.close()
	e.meta, e.trust = &f.meta, true
	return true
}

func (s *store) fromMemory(e *entry) *found {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.loaded == nil {
		return nil
	}
	s.inMemory.MoveToFront(e.loadedPlace)
	return e.loaded
}

// keep keeps what was read in memory, if it is small.
func (s *store) keep(e *entry, f *found) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.inMemory == nil || e.loaded != nil || e.place == nil {
		return
	}
	e.loaded, e.loadedPlace = f, s.inMemory.PushFront(e)
	s.usedThere += f.weight()
	for s.usedThere > s.memory {
		s.forget(s.inMemory.Back().Value.(*entry)) //nolint:forcetypeassert // nothing else is in it
	}
}

// forget takes an entry out of memory. It needs the mutex.
func (s *store) forget(e *entry) {
	if e.loaded != nil {
		s.usedThere -= e.loaded.weight()
		s.inMemory.Remove(e.loadedPlace)
		e.loaded, e.loadedPlace = nil, nil
	}
}

// delete removes all responses of a key, and reports whether one of them could have been used.
func (s *store) delete(k key, now time.Time) (deleted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list()
	for _, e := range s.fresh(k, now) {
		s.remove(e)
		deleted = true
	}
	return deleted
}

func (s *store) drop(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(e)
}

// reserve makes room for n bytes that are about to be written. It reports false when
// everything that could be removed is gone and the limit is reached.
func (s *store) reserve(n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used += n
	for s.used > s.disk {
		oldest := s.recent.Back()
		if oldest == nil {
			s.used -= n
			return false
		}
		s.remove(oldest.Value.(*entry)) //nolint:forcetypeassert // nothing else is in it
	}
	return true
}

func (s *store) release(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= n
}
