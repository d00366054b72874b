package dirstore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/svcctl/svcctl/internal/data/objstore"
)

func (b *Bucket) put(ctx context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (objstore.Info, error) {
	if err := checkKey(key); err != nil {
		return objstore.Info{}, err
	}
	staged, info, err := b.stage(body, size)
	if err != nil {
		return objstore.Info{}, err
	}
	// A created object still has this name too; a renamed one does not.
	defer func() { _ = b.root.Remove(staged) }()
	err = b.lock.with(ctx, func() error { return b.place(staged, key, cond) })
	if err == nil || errors.Is(err, objstore.ErrPrecondition) {
		err = errors.Join(err, b.syncFolders(path.Dir(key)))
	}
	info.Key = key
	return info, err
}

// stage writes a complete object, fsynced, under a unique name.
func (b *Bucket) stage(body io.Reader, size int64) (name string, info objstore.Info, err error) {
	name = path.Join(staging, rand.Text())
	f, err := b.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", info, err
	}
	info, err = fill(f, body, size)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", info, errors.Join(err, b.root.Remove(name))
	}
	return name, info, nil
}

func fill(f *os.File, body io.Reader, size int64) (objstore.Info, error) {
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), body)
	if err != nil {
		return objstore.Info{}, err
	}
	if size >= 0 && n != size {
		return objstore.Info{}, fmt.Errorf("body has %d bytes, want %d", n, size)
	}
	if err := f.Sync(); err != nil {
		return objstore.Info{}, err
	}
	st, err := f.Stat()
	if err != nil {
		return objstore.Info{}, err
	}
	return objstore.Info{Size: n, ETag: etag(sum.Sum(nil)), Modified: st.ModTime()}, nil
}

// place gives the staged object its key if cond holds. The caller holds the lock,
// which keeps the folder from being removed and the ETag from changing.
func (b *Bucket) place(staged, key string, cond objstore.Condition) error {
	if cond.IfMatch != "" {
		if err := b.match(key, cond); err != nil {
			return err
		}
		return b.root.Rename(staged, key)
	}
	if err := b.root.MkdirAll(path.Dir(key), 0o700); err != nil {
		return err
	}
	if st, err := b.root.Lstat(key); err == nil && st.IsDir() {
		if err := b.root.Remove(key); err != nil { // an empty one remains after a crash
			return fmt.Errorf("objects exist below the key: %w", err)
		}
	}
	if !cond.IfAbsent {
		return b.root.Rename(staged, key)
	}
	err := b.root.Link(staged, key)
	if errors.Is(err, fs.ErrExist) {
		return objstore.ErrPrecondition
	}
	return err
}

func (b *Bucket) match(key string, cond objstore.Condition) error {
	f, info, err := b.open(key)
	if errors.Is(err, objstore.ErrNotExist) {
		return objstore.ErrPrecondition
	}
	if err != nil {
		return err
	}
	if info.ETag != cond.IfMatch || cond.IfAbsent {
		err = objstore.ErrPrecondition
	}
	return errors.Join(err, f.Close())
}
