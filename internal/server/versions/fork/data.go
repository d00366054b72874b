package fork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/svc"
)

// Archive ships the cached data of a version without a runtime to the object store,
// verifies it there, and drops the cache. Without a cache it does nothing.
func (s *Service) Archive(ctx context.Context, ref svc.Ref) error {
	v, err := s.deps.Versions.Version(ctx, ref)
	if err != nil {
		return err
	}
	return s.ship(ctx, v, func() error { return s.drop(ref) })
}

// Cached reports whether the local cache has data of a version. It reads only the
// local disk.
func (s *Service) Cached(ref svc.Ref) bool {
	_, err := os.Lstat(s.deps.Dirs.dir(ref))
	return !errors.Is(err, fs.ErrNotExist)
}

// ship ships the cached data to the object store with a worker host. after runs before
// another process can open the data.
func (s *Service) ship(ctx context.Context, v svc.Version, after func() error) error {
	return s.deps.Runtimes.Archive(ctx, svc.RuntimeSpec{
		Ref: v.Ref, CreatedAt: v.CreatedAt, Parent: v.ForkedFrom(),
		Local: svc.LocalSpec{DataDir: s.deps.Dirs.dir(v.Ref), LogDir: filepath.Join(s.deps.Dirs.Logs, v.Project, v.Version)},
	}, after)
}

// Destroy marks a version's data as destroyed and drops the cache. Garbage collection
// deletes the objects that no child needs, after the grace.
func (s *Service) Destroy(ctx context.Context, ref svc.Ref) error {
	if err := s.deps.Records.Destroy(ctx, ref); err != nil {
		return err
	}
	return s.drop(ref)
}

func (s *Service) drop(ref svc.Ref) error {
	if err := os.RemoveAll(s.deps.Dirs.dir(ref)); err != nil {
		return fmt.Errorf("dropping the cached data of %s: %w", ref, err)
	}
	return nil
}
