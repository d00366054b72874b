package dirstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/svcctl/svcctl/internal/data/objstore"
)

// List implements objstore.Bucket.
func (b *Bucket) List(ctx context.Context, prefix, after string, limit int) ([]objstore.Info, error) {
	l := &listing{bucket: b, prefix: prefix, after: after, limit: limit}
	folder := prefix[:strings.LastIndexByte(prefix, '/')+1]
	if folder != "" && !isKey(strings.TrimSuffix(folder, "/")) {
		return nil, nil
	}
	if err := l.walk(ctx, folder); err != nil {
		return nil, fmt.Errorf("list %s: %w", prefix, err)
	}
	return l.page, nil
}

type listing struct {
	bucket        *Bucket
	prefix, after string
	limit         int
	page          []objstore.Info
}

// walk lists a folder, "" or "name/", in the order of keys.
func (l *listing) walk(ctx context.Context, folder string) error {
	names, err := l.bucket.names(ctx, folder)
	if err != nil {
		return err
	}
	for _, name := range names {
		if len(l.page) == l.limit {
			return nil
		}
		if err := l.visit(ctx, folder+name); err != nil {
			return err
		}
	}
	return nil
}

// visit adds the object, or the objects in the folder "name/", if they belong to the
// page.
func (l *listing) visit(ctx context.Context, name string) error {
	if strings.HasSuffix(name, "/") {
		wanted := strings.HasPrefix(name, l.prefix) || strings.HasPrefix(l.prefix, name)
		seen := l.after > name && !strings.HasPrefix(l.after, name)
		if !wanted || seen {
			return nil
		}
		return l.walk(ctx, name)
	}
	if !strings.HasPrefix(name, l.prefix) || name <= l.after {
		return nil
	}
	info, err := l.bucket.Stat(ctx, name)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil // deleted concurrently
	}
	if err != nil {
		return err
	}
	l.page = append(l.page, info)
	return nil
}

// names returns the objects and folders in a folder, the folders with the slash of
// their keys: sorted so, the walk is in the order of keys. It holds the lock, because
// a filesystem may hide a file from a reader while the file is replaced.
func (b *Bucket) names(ctx context.Context, folder string) ([]string, error) {
	var entries []fs.DirEntry
	err := b.lock.with(ctx, func() (err error) {
		entries, err = fs.ReadDir(b.root.FS(), path.Clean(folder))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		switch {
		case folder == "" && e.Name() == private:
		case e.IsDir():
			names = append(names, e.Name()+"/")
		case e.Type().IsRegular():
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}
