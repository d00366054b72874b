package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	dirMode  = 0o700
	diskMode = 0o600
	syncers  = 8 // concurrent fsyncs, which file systems commit together
)

// Extract checks the bundle in file and unpacks it into dir, whose parent must
// exist. It replaces dir by a complete directory that is synced to disk, or leaves
// dir unchanged and returns an error. Detached assets are an error: see ExtractWith.
func Extract(ctx context.Context, file, dir string, limits Limits) (Manifest, error) {
	return ExtractWith(ctx, file, dir, limits, func(context.Context, Manifest, string) error {
		return refuse(svc.CodeBundleMismatch, "the bundle has none of the assets that its manifest lists")
	})
}

// Fill puts the detached assets of a manifest at their paths below dir.
type Fill func(ctx context.Context, m Manifest, dir string) error

// ExtractWith is Extract for a bundle whose assets may be detached: fill is called for
// these before the directory is synced and takes its place. It returns fill's errors.
func ExtractWith(ctx context.Context, file, dir string, limits Limits, fill Fill) (Manifest, error) {
	return unpacking{limits, fill, publish}.into(ctx, file, dir)
}

// ExtractNoSync is ExtractWith without the sync: a failure of the power may leave files of
// zeros.
func ExtractNoSync(ctx context.Context, file, dir string, limits Limits, fill Fill) (Manifest, error) {
	return unpacking{limits, fill, replace}.into(ctx, file, dir)
}

// unpacking is how a bundle is unpacked.
type unpacking struct {
	limits  Limits
	fill    Fill
	publish func(tmp, dir string) error
}

func (u unpacking) into(ctx context.Context, file, dir string) (Manifest, error) {
	src, err := os.Open(file)
	if err != nil {
		return Manifest{}, fmt.Errorf("open bundle: %w", err)
	}
	defer src.Close()
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".unpack-*")
	if err != nil {
		return Manifest{}, fmt.Errorf("create directory to unpack into: %w", err)
	}
	defer os.RemoveAll(tmp)
	m, err := extractInto(ctx, src, tmp, u.limits)
	if err == nil && m.detached() {
		err = u.fill(ctx, m, tmp)
	}
	if err != nil {
		return Manifest{}, err
	}
	if err := u.publish(tmp, dir); err != nil {
		return Manifest{}, fmt.Errorf("publish unpacked bundle: %w", err)
	}
	return m, nil
}

func extractInto(ctx context.Context, src io.Reader, dir string, limits Limits) (Manifest, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Manifest{}, fmt.Errorf("open directory to unpack into: %w", err)
	}
	defer root.Close()
	return unpack(ctx, src, limits, func(name string) (io.WriteCloser, error) {
		if err := root.MkdirAll(path.Dir(name), dirMode); err != nil {
			if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrExist) {
				return nil, refuse(svc.CodeBundlePath, "%q in the bundle is below a file", name).Because(err)
			}
			return nil, err
		}
		return root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, diskMode)
	})
}

// publish makes a directory durable and moves it to its place.
func publish(tmp, dir string) error {
	if err := syncTree(tmp); err != nil {
		return err
	}
	if err := replace(tmp, dir); err != nil {
		return err
	}
	return syncPath(filepath.Dir(dir))
}

// replace moves a directory to its place.
func replace(tmp, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(tmp, dir)
}

func syncTree(root string) error {
	paths := make(chan string)
	errs := make(chan error, syncers)
	var wg sync.WaitGroup
	for range syncers {
		wg.Go(func() {
			var failed error
			for p := range paths {
				failed = errors.Join(failed, syncPath(p))
			}
			errs <- failed
		})
	}
	err := filepath.WalkDir(root, func(p string, _ fs.DirEntry, err error) error {
		if err == nil {
			paths <- p
		}
		return err
	})
	close(paths)
	wg.Wait()
	close(errs)
	for failed := range errs {
		err = errors.Join(err, failed)
	}
	return err
}

func syncPath(p string) error {
	f, err := os.Open(p)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
