package assetstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

func keptKey(ref svc.Ref) string { return root + ref.Project + keptLists + ref.Version }

// Keep records the files of earlier versions that a version serves beside its own, and stores
// those that the object store lacks: files of bundles that have them inside. Those are in the
// directory from of an unpacked bundle.
//
// Errors: Unavailable, upload_failed, if the object store fails; others are of the disk.
func (s *Store) Keep(ctx context.Context, ref svc.Ref, kept bundle.Kept, from string) error {
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	ctx, unlock, err := s.locks.Lock(ctx, ref.Project)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := s.cfg.Bucket.Put(ctx, keptKey(ref), bytes.NewReader(text), int64(len(text)), objstore.Condition{}); err != nil {
		return failed(err)
	}
	lacks := map[string]bundle.File{}
	for _, f := range kept.List() {
		lacks[f.SHA256] = f
	}
	if err := s.stored(ctx, ref.Project, func(_ objstore.Info, hash string) { delete(lacks, hash) }); err != nil {
		return failed(err)
	}
	puts, own := errgroup.WithContext(ctx)
	puts.SetLimit(parallel)
	for _, f := range lacks {
		puts.Go(func() error { return s.putFile(own, ref.Project, f, filepath.Join(from, filepath.FromSlash(f.Path))) })
	}
	return puts.Wait()
}

// putFile stores a file of the disk.
func (s *Store) putFile(ctx context.Context, project string, f bundle.File, path string) error {
	body, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("keeping the asset %s: %w", f.Path, err)
	}
	defer body.Close()
	_, err = s.cfg.Bucket.Put(ctx, fileKey(project, f.SHA256), body, f.Size, objstore.Condition{})
	return failed(err)
}

// Kept returns what a version serves beside its own files: nothing for most versions.
func (s *Store) Kept(ctx context.Context, ref svc.Ref) (bundle.Kept, error) {
	kept, err := s.readKept(ctx, keptKey(ref))
	if err != nil {
		return kept, unreadable(err)
	}
	return kept, nil
}

func (s *Store) readKept(ctx context.Context, key string) (kept bundle.Kept, err error) {
	text, _, err := objstore.Read(ctx, s.cfg.Bucket, key, 0, -1)
	if errors.Is(err, objstore.ErrNotExist) {
		return kept, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil {
		return kept, fmt.Errorf("reading a list of kept assets: %w", err)
	}
	return kept, nil
}

// FillKept puts the kept files of a version below dir, the directory of its bundle, which was just
// unpacked. A file that the object store no longer has is left out: no page of today needs it.
//
// Errors: Unavailable, artifact_unreadable, if the object store fails; others are of the disk.
func (s *Store) FillKept(ctx context.Context, ref svc.Ref, dir string) error {
	kept, err := s.Kept(ctx, ref)
	if err != nil || len(kept.Files) == 0 {
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
	if err := s.download(ctx, ref, pool, kept.List()); err != nil && svc.CodeOf(err) != svc.CodeAssetMissing {
		return err
	}
	var have bundle.Kept
	for _, f := range kept.Files {
		err := place(filepath.Join(pool, f.SHA256), bundle.KeptPath(dir, f.File))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("unpack %s: %w", f.Path, err)
		}
		have.Files = append(have.Files, f)
	}
	return bundle.WriteKept(dir, have)
}

// LostKept returns, by version, the kept files of a project that the object store does not have.
func (s *Store) LostKept(ctx context.Context, project string) (map[string][]string, error) {
	have := map[string]bool{}
	if err := s.stored(ctx, project, func(_ objstore.Info, hash string) { have[hash] = true }); err != nil {
		return nil, err
	}
	lost := map[string][]string{}
	prefix := root + project + keptLists
	err := objstore.Each(ctx, s.cfg.Bucket, prefix, func(info objstore.Info) error {
		kept, err := s.readKept(ctx, info.Key)
		for _, f := range kept.Files {
			if version := strings.TrimPrefix(info.Key, prefix); !have[f.SHA256] {
				lost[version] = append(lost[version], f.Path)
			}
		}
		return err
	})
	return lost, err
}

// needs returns the hashes of the files that a list names.
func (s *Store) needs(ctx context.Context, key string) (sizes, error) {
	if !strings.Contains(key, keptLists) {
		return s.read(ctx, key)
	}
	kept, err := s.readKept(ctx, key)
	if err != nil {
		return nil, err
	}
	list := sizes{}
	for _, f := range kept.Files {
		list[f.SHA256] = f.Size
	}
	return list, nil
}
