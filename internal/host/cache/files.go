package cache

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// writing is how names of files begin that are not whole yet.
const writing = "new-"

func (s *store) path(name string) string { return filepath.Join(s.dir, name) }

// list finds the files of an earlier process, once. Their content is read when it is
// asked for. It needs the mutex.
func (s *store) list() {
	if s.listed {
		return
	}
	s.listed = true
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return // nothing was stored yet, or nothing can be: put reports why
	}
	var found []*entry
	changed := map[*entry]time.Time{}
	for _, f := range files {
		e, at := entryOf(f)
		if e == nil {
			_ = os.Remove(s.path(f.Name())) // a process ended while it wrote the file
			continue
		}
		found, changed[e] = append(found, e), at
	}
	slices.SortFunc(found, func(a, b *entry) int { return changed[a].Compare(changed[b]) })
	for _, e := range found {
		s.insert(e)
	}
	s.shrink()
}

// entryOf is the entry in a file that is whole, by its name; nil for any other.
func entryOf(f fs.DirEntry) (*entry, time.Time) {
	text, _, ok := strings.Cut(f.Name(), ".")
	info, err := f.Info()
	if !ok || err != nil || !info.Mode().IsRegular() {
		return nil, time.Time{}
	}
	e := &entry{name: f.Name(), bytes: blocks(info.Size())}
	if n, err := hex.Decode(e.key[:], []byte(text)); err != nil || n != len(e.key) {
		return nil, time.Time{}
	}
	return e, info.ModTime()
}

// blocks rounds a size up to what it takes on a disk.
func blocks(size int64) int64 { return (size + blockSize - 1) / blockSize * blockSize }

// insert and remove need the mutex.
func (s *store) insert(e *entry) {
	e.place = s.recent.PushFront(e)
	s.entries[e.key] = append([]*entry{e}, s.entries[e.key]...)
	s.used += e.bytes
}

func (s *store) remove(e *entry) {
	if e.place == nil {
		return
	}
	s.forget(e)
	s.recent.Remove(e.place)
	e.place = nil
	s.used -= e.bytes
	rest := slices.DeleteFunc(s.entries[e.key], func(o *entry) bool { return o == e })
	if s.entries[e.key] = rest; len(rest) == 0 {
		delete(s.entries, e.key)
	}
	_ = os.Remove(s.path(e.name)) //nolint:gosec // a name of this package; a file that stays is removed by the next process
}

// shrink removes what is over the limit, which may have been lowered. It needs the mutex.
func (s *store) shrink() {
	for s.used > s.disk && s.recent.Len() > 0 {
		s.remove(s.recent.Back().Value.(*entry)) //nolint:forcetypeassert // nothing else is in it
	}
}

// write stores a response in place of the one that answered the same requests.
func (s *store) write(k key, m meta, head string, body io.Reader, now time.Time) error {
	if s.disk == 0 {
		return errNotStored
	}
	f, err := s.create()
	if err != nil {
		return err
	}
	defer f.discard()
	if err := f.fill(m, head, body); err != nil {
		return err
	}
	e := &entry{key: k, name: hex.EncodeToString(k[:]) + "." + rand.Text()[:12], bytes: blocks(f.written), trust: true, meta: &m}
	return s.commit(e, f, now)
}

// create begins a file.
func (s *store) create() (*newFile, error) {
	s.mu.Lock()
	s.list() // before the new file is there, which it would delete
	s.mu.Unlock()
	file, err := os.CreateTemp(s.dir, writing+"*")
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(s.dir, 0o700); err == nil {
			file, err = os.CreateTemp(s.dir, writing+"*")
		}
	}
	if err != nil {
		return nil, err
	}
	return &newFile{file: file, store: s}, nil
}

// commit makes a file an entry.
func (s *store) commit(e *entry, f *newFile, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	same := http.Header{}
	for name, value := range e.meta.selectors {
		same[name] = []string{value}
	}
	others := s.fresh(e.key, now)
	for i, o := range others {
		if o.meta.selects(same) || i >= maxVariants-1 {
			s.remove(o)
		}
	}
	if err := os.Rename(f.file.Name(), s.path(e.name)); err != nil {
		return err
	}
	f.kept = true
	s.used -= f.reserved
	f.reserved = 0
	s.insert(e)
	s.shrink()
	return nil
}

// ignoreMissing drops the error of a file that was removed meanwhile.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
