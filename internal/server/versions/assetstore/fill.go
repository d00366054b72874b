package assetstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/google/renameio/v2"
	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
	poolDir  = ".assets" // ids have no dots
)

// Fill puts the detached assets of a version below dir, which is on the file system of
// Config.Dir: as links to files that the versions of the project share. Before, it
// records that the version needs them.
//
// Errors: Unprocessable, asset_missing, for files that the object store does not have;
// Unavailable, artifact_unreadable, if the object store fails; others are of the disk.
func (s *Store) Fill(ctx context.Context, ref svc.Ref, m bundle.Manifest, dir string) error {
	want, err := sizesOf(m.Assets.Files)
	if err != nil {
		return err
	}
	if err := s.hold(ctx, ref, want); err != nil {
		return err
	}
	ctx, unlock, err := s.pools.Lock(ctx, ref.Project)
	if err != nil {
		return err
	}
	defer unlock()
	pool := s.pool(ref.Project)
	if err := os.MkdirAll(pool, dirMode); err != nil {
		return fmt.Errorf("creating the directory of shared assets: %w", err)
	}
	if err := s.download(ctx, ref, pool, m.Assets.Files); err != nil {
		return err
	}
	for _, f := range m.Assets.Files {
		if err := place(filepath.Join(pool, f.SHA256), filepath.Join(dir, filepath.FromSlash(f.Path))); err != nil {
			return fmt.Errorf("unpack %s: %w", f.Path, err)
		}
	}
	return nil
}

func (s *Store) pool(project string) string { return filepath.Join(s.cfg.Dir, project, poolDir) }

// hold records the files of a version, for Collect.
func (s *Store) hold(ctx context.Context, ref svc.Ref, want sizes) error {
	ctx, unlock, err := s.locks.Lock(ctx, ref.Project)
	if err != nil {
		return err
	}
	defer unlock()
	text := want.encode()
	if _, err := s.cfg.Bucket.Put(ctx, listKey(ref), strings.NewReader(text), int64(len(text)), objstore.Condition{}); err != nil {
		return unreadable(err)
	}
	return nil
}

// download brings the files that the pool lacks.
func (s *Store) download(ctx context.Context, ref svc.Ref, pool string, files []bundle.File) error {
	var gone missing
	gets, own := errgroup.WithContext(ctx)
	gets.SetLimit(parallel)
	seen := map[string]bool{}
	for _, f := range files {
		if seen[f.SHA256] {
			continue
		}
		seen[f.SHA256] = true
		path := filepath.Join(pool, f.SHA256)
		if info, err := os.Stat(path); err == nil && info.Size() == f.Size {
			continue
		}
		gets.Go(func() error {
			err := s.get(own, ref.Project, f, path)
			if errors.Is(err, objstore.ErrNotExist) {
				gone.add(f.Path)
				return nil
			}
			return err
		})
	}
	if err := gets.Wait(); err != nil {
		return err
	}
	return gone.err()
}

// get writes one file of the object store to path, durably.
func (s *Store) get(ctx context.Context, project string, f bundle.File, path string) error {
	body, _, err := s.cfg.Bucket.Get(ctx, fileKey(project, f.SHA256), 0, -1)
	if err != nil {
		return unreadable(err)
	}
	defer body.Close()
	tmp, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(fileMode))
	if err != nil {
		return fmt.Errorf("saving the asset %s: %w", f.Path, err)
	}
	from := &checked{r: body, sum: sha256.New(), want: f}
	if _, err = io.Copy(tmp, from); err == nil {
		err = tmp.CloseAtomicallyReplace()
	}
	if err == nil {
		return nil
	}
	_ = tmp.Cleanup() // the error that follows counts
	if from.err != nil {
		return unreadable(from.err)
	}
	return fmt.Errorf("saving the asset %s: %w", f.Path, err)
}

// unreadable is err of the object store, unless it is for users already.
func unreadable(err error) error {
	if _, known := errors.AsType[*svc.Error](err); known {
		return err
	}
	return svc.Errorf(svc.Unavailable, svc.CodeArtifactUnreadable, "the object store did not return the assets").
		WithHint("read the daemon's log and GET /v1/health/deep").Because(err)
}

// place makes to a file with the content of from: a link, or a copy where the file
// system has none or has too many.
func place(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), dirMode); err != nil {
		return err
	}
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// Prune deletes the shared files of a project that no unpacked bundle has. Idempotent.
func (s *Store) Prune(ctx context.Context, project string) error {
	_, unlock, err := s.pools.Lock(ctx, project)
	if err != nil {
		return err
	}
	defer unlock()
	entries, err := os.ReadDir(s.pool(project))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		info, statErr := e.Info()
		if statErr != nil {
			return errors.Join(err, statErr)
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink == 1 {
			err = errors.Join(err, os.Remove(filepath.Join(s.pool(project), e.Name())))
		}
	}
	return err
}
