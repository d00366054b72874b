package dirstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/svcctl/svcctl/internal/data/objstore"
)

// Bucket is a directory of objects. Safe for concurrent use.
type Bucket struct {
	root *os.Root
	lock *lock
}

var _ objstore.Bucket = (*Bucket)(nil)

// Open opens the directory, creates it if it is missing, and deletes unfinished
// objects of writers that crashed an hour ago or earlier.
func Open(dir string) (*Bucket, error) {
	root, err := openRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open directory of objects: %w", err)
	}
	if err := sweep(root); err != nil {
		return nil, fmt.Errorf("open directory of objects %s: %w", dir, errors.Join(err, root.Close()))
	}
	return &Bucket{root, newLock(filepath.Join(dir, filepath.FromSlash(lockName)))}, nil
}

// Close closes the directory. No operation may be in progress.
func (b *Bucket) Close() error { return b.root.Close() }

// Put implements objstore.Bucket.
func (b *Bucket) Put(ctx context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (objstore.Info, error) {
	info, err := b.put(ctx, key, body, size, cond)
	if err != nil {
		return objstore.Info{}, fmt.Errorf("put %s: %w", key, err)
	}
	return info, nil
}

// Get implements objstore.Bucket.
func (b *Bucket) Get(_ context.Context, key string, off, n int64) (io.ReadCloser, objstore.Info, error) {
	f, info, err := b.open(key)
	if err != nil {
		return nil, objstore.Info{}, fmt.Errorf("get %s: %w", key, err)
	}
	off = min(off, info.Size)
	if n < 0 || n > info.Size-off {
		n = info.Size - off
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(f, off, n), f}, info, nil
}

// Stat implements objstore.Bucket.
func (b *Bucket) Stat(_ context.Context, key string) (objstore.Info, error) {
	f, info, err := b.open(key)
	if err != nil {
		return objstore.Info{}, fmt.Errorf("stat %s: %w", key, err)
	}
	return info, f.Close()
}

// open opens an object and hashes it. The open file keeps its content: files with a
// key are never written to.
func (b *Bucket) open(key string) (*os.File, objstore.Info, error) {
	if err := checkKey(key); err != nil {
		return nil, objstore.Info{}, err
	}
	f, err := b.root.Open(key)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, objstore.Info{}, objstore.ErrNotExist
	}
	if err != nil {
		return nil, objstore.Info{}, err
	}
	info, err := describe(f)
	if err != nil {
		return nil, objstore.Info{}, errors.Join(err, f.Close())
	}
	info.Key = key
	return f, info, nil
}

func describe(f *os.File) (objstore.Info, error) {
	st, err := f.Stat()
	if err != nil {
		return objstore.Info{}, err
	}
	if !st.Mode().IsRegular() {
		return objstore.Info{}, objstore.ErrNotExist // a folder of objects, or not an object
	}
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(f, 0, st.Size()))
	if err == nil && n != st.Size() {
		err = fmt.Errorf("%w: the file was truncated", objstore.ErrTorn)
	}
	return objstore.Info{Size: n, ETag: etag(sum.Sum(nil)), Modified: st.ModTime()}, err
}

func etag(sum []byte) string { return hex.EncodeToString(sum[:16]) }

// Delete implements objstore.Bucket. It also removes folders that become empty.
func (b *Bucket) Delete(ctx context.Context, keys ...string) error {
	folders := map[string]bool{}
	for _, key := range keys {
		if err := checkKey(key); err != nil {
			return fmt.Errorf("delete: %w", err)
		}
		if err := b.lock.with(ctx, func() error { return b.remove(key) }); err != nil {
			return fmt.Errorf("delete %s: %w", key, err)
		}
		folders[path.Dir(key)] = true
	}
	for folder := range folders {
		if err := b.syncFolders(folder); err != nil {
			return fmt.Errorf("delete: %w", err)
		}
	}
	return nil
}

func (b *Bucket) remove(key string) error {
	st, err := b.root.Lstat(key)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && st.IsDir() {
		return nil
	}
	if err == nil {
		err = b.root.Remove(key)
	}
	for folder := path.Dir(key); err == nil && folder != "."; folder = path.Dir(folder) {
		if b.root.Remove(folder) != nil {
			break // it is not empty
		}
	}
	return err
}
