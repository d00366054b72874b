package cowvfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/svcctl/svcctl/internal/lib/atomicfile"
)

// bitmap records which pages of a file are present. Its file has magic, page size and
// number of pages, and then one bit for each page; it is deleted once all pages are present.
type bitmap struct {
	path     string
	pageSize uint32
	pages    uint32 // of the base; pages above are always present
	words    []atomic.Uint64
	dirty    atomic.Bool

	mu   sync.Mutex // held during save
	file *os.File   // stays open, since save is frequent
}

const (
	bitmapMagic  = "svcpages"
	bitmapHeader = 16
)

// openBitmap reads the bitmap at path; ok is false when it does not exist.
func openBitmap(path string) (b *bitmap, ok bool, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if len(data) < bitmapHeader || string(data[:8]) != bitmapMagic {
		return nil, false, fmt.Errorf("read page map %s: not a page map", path)
	}
	b = &bitmap{path: path, pageSize: binary.LittleEndian.Uint32(data[8:]), pages: binary.LittleEndian.Uint32(data[12:])}
	b.words = make([]atomic.Uint64, (b.pages+63)/64)
	if len(data) != bitmapHeader+8*len(b.words) {
		return nil, false, fmt.Errorf("read page map %s: %d bytes for %d pages", path, len(data), b.pages)
	}
	for i := range b.words {
		b.words[i].Store(binary.LittleEndian.Uint64(data[bitmapHeader+8*i:]))
	}
	b.file, err = os.OpenFile(path, os.O_RDWR, 0)
	return b, true, err
}

// newBitmap creates a bitmap at path without a present page.
func newBitmap(path string, pageSize, pages uint32) (*bitmap, error) {
	b := &bitmap{path: path, pageSize: pageSize, pages: pages, words: make([]atomic.Uint64, (pages+63)/64)}
	err := atomicfile.Replace(path, b.marshal(), 0o600)
	if err == nil {
		b.file, err = os.OpenFile(path, os.O_RDWR, 0)
	}
	return b, err
}

func (b *bitmap) marshal() []byte {
	data := make([]byte, bitmapHeader, bitmapHeader+8*len(b.words))
	copy(data, bitmapMagic)
	binary.LittleEndian.PutUint32(data[8:], b.pageSize)
	binary.LittleEndian.PutUint32(data[12:], b.pages)
	for i := range b.words {
		data = binary.LittleEndian.AppendUint64(data, b.words[i].Load())
	}
	return data
}

func (b *bitmap) has(i uint32) bool {
	return i >= b.pages || b.words[i/64].Load()&(1<<(i%64)) != 0
}

func (b *bitmap) set(i uint32) {
	if b.has(i) {
		return
	}
	b.words[i/64].Or(1 << (i % 64))
	b.dirty.Store(true)
}

// firstMissing is the first missing page from i on, or pages.
func (b *bitmap) firstMissing(i uint32) uint32 {
	for i < b.pages && b.has(i) {
		i++
	}
	return i
}

func (b *bitmap) missing() (n uint32) {
	for i := range b.pages {
		if !b.has(i) {
			n++
		}
	}
	return n
}

// save syncs the data by fn and then writes the bits as they were before fn: no bit may reach
// the disk before its page. When fn fails, nothing is written.
func (b *bitmap) save(fn func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.dirty.Swap(false) {
		return fn()
	}
	data := b.marshal()
	err := fn()
	if err == nil {
		_, err = b.file.WriteAt(data, 0)
	}
	if err == nil {
		err = b.file.Sync()
	}
	if err != nil {
		b.dirty.Store(true)
	}
	return err
}

// remove deletes the bitmap: every page is present from now on.
func (b *bitmap) remove() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := os.Remove(b.path); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(b.path))
}

func (b *bitmap) close() error { return b.file.Close() }
