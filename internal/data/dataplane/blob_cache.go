package dataplane

import (
	"container/list"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// The sizes of the cache of blobs, in bytes.
const (
	blobCacheMost   = 256 << 20 // of one version
	blobCacheLeast  = 64 << 20  // of one with a low limit of disk space
	blobCacheShare  = 16        // of that limit, one part
	blobCacheStored = 8 << 20   // of one blob that was stored: a larger one may never be read
	blobCacheRead   = 64 << 20  // of one blob that was read
)

// blobCacheSize is the size of the cache of a version with a limit of disk space, 0 for none.
func blobCacheSize(limit int64) int64 {
	if limit == 0 {
		return blobCacheMost
	}
	return min(blobCacheMost, max(blobCacheLeast, limit/blobCacheShare))
}

// blobCache keeps recently stored or read blobs as files. It begins empty with each process,
// because its files may not survive a power failure. Blobs never change, so no entry is ever
// stale. After any failure the blob is read from the object store.
type blobCache struct {
	dir  string
	most int64

	mu    sync.Mutex // guards the fields below
	files map[string]*list.Element
	used  *list.List // of *cachedBlob, the most recently used first
	size  int64
	made  bool // the directory exists
}

// cachedBlob is one file: the first bytes of a blob, usually all of them.
type cachedBlob struct {
	key  string
	size int64
}

func newBlobCache(dir string, most int64) *blobCache {
	return &blobCache{dir: dir, most: most, files: map[string]*list.Element{}, used: list.New()}
}

func (b *blobCache) path(key string) string {
	return filepath.Join(b.dir, key[strings.LastIndexByte(key, '/')+1:])
}

// get returns n bytes of a blob from off, nil when they are not all cached. The reader has the
// methods of an io.SectionReader, by which the kernel can copy the bytes.
func (b *blobCache) get(key string, off, n int64) io.ReadCloser {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.files[key]
	if e == nil || e.Value.(*cachedBlob).size < off+n { //nolint:forcetypeassert // the list has nothing else
		return nil
	}
	f, err := os.Open(b.path(key))
	if err != nil {
		b.evict(e)
		return nil
	}
	b.used.MoveToFront(e)
	return struct {
		*io.SectionReader
		io.Closer
	}{io.NewSectionReader(f, off, n), f}
}

// evict deletes a file. The caller holds mu.
func (b *blobCache) evict(e *list.Element) {
	c := b.used.Remove(e).(*cachedBlob) //nolint:forcetypeassert // the list has nothing else
	delete(b.files, c.key)
	b.size -= c.size
	_ = os.Remove(b.path(c.key)) // readers have it open
}

// fill begins a file, nil when the blob has more than most bytes or none.
func (b *blobCache) fill(key string, size, most int64) *filling {
	if size == 0 || size > min(most, b.most) {
		return nil
	}
	b.mu.Lock()
	if !b.made {
		b.made = os.MkdirAll(b.dir, 0o700) == nil
	}
	b.mu.Unlock()
	f, err := os.CreateTemp(b.dir, "filling-")
	if err != nil {
		return nil
	}
	return &filling{cache: b, key: key, size: size, file: f}
}

// add adds a complete file, and evicts the least recently used ones.
func (b *blobCache) add(key, path string, size int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old := b.files[key]; old != nil {
		b.evict(old)
	}
	if err := os.Rename(path, b.path(key)); err != nil {
		return err
	}
	b.files[key] = b.used.PushFront(&cachedBlob{key, size})
	for b.size += size; b.size > b.most; {
		b.evict(b.used.Back())
	}
	return nil
}

// filling is a file that is written while its bytes are read.
type filling struct {
	cache *blobCache
	key   string
	size  int64
	file  *os.File
	wrote int64
	err   error
}

// Write never fails: a file that cannot be written is deleted in the end.
func (f *filling) Write(p []byte) (int, error) {
	if f.err == nil {
		_, f.err = f.file.Write(p)
		f.wrote += int64(len(p))
	}
	return len(p), nil
}

// end adds the file to the cache if it is complete.
func (f *filling) end() {
	err := errors.Join(f.err, f.file.Close())
	if err == nil && f.wrote == f.size {
		err = f.cache.add(f.key, f.file.Name(), f.size)
	} else {
		err = errors.Join(err, io.ErrUnexpectedEOF)
	}
	if err != nil {
		_ = os.Remove(f.file.Name()) // the next process deletes the directory
	}
}

// filled is a reader whose bytes fill a file.
type filled struct {
	io.ReadCloser
	file *filling
}

// Read implements io.Reader.
func (f *filled) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	_, _ = f.file.Write(p[:n])
	return n, err
}

// Close closes the reader and ends the file.
func (f *filled) Close() error {
	f.file.end()
	return f.ReadCloser.Close()
}

// open reads a part of a blob, from the cache or by r from the object store.
func (b *blobCache) open(r *blobReader) (io.ReadCloser, error) {
	if cached := b.get(r.key, r.at, r.left); cached != nil {
		return cached, nil
	}
	off, n := r.at, r.left
	if err := r.open(); err != nil {
		return nil, fmt.Errorf("reading a body: %w", err)
	}
	if off > 0 {
		return r, nil
	}
	if file := b.fill(r.key, n, blobCacheRead); file != nil {
		return &filled{r, file}, nil
	}
	return r, nil
}

// keep caches a local body.
func (b *blobCache) keep(key string, body io.ReaderAt, size int64) {
	if file := b.fill(key, size, blobCacheStored); file != nil {
		_, _ = io.Copy(file, io.NewSectionReader(body, 0, size)) // an incomplete file is not kept
		file.end()
	}
}
