package assetstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/lib/keyed"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	root = "_assets/" // no id of a project begins with "_"
	// keptLists has the lists of kept files: no id has a slash.
	keptLists = "/kept/"
	// parallel is the number of concurrent requests to the object store in one call.
	parallel = 8
)

// Config configures a Store.
type Config struct {
	Bucket objstore.Bucket // of bundles
	Dir    string          // of unpacked bundles; files are shared in {Dir}/{project}/.assets
	Limits bundle.Limits
}

// Store keeps the assets of all projects.
type Store struct {
	cfg   Config
	locks keyed.Mutex[string] // by project: lists and deletions of objects
	pools keyed.Mutex[string] // by project: the files on disk

	mu    sync.Mutex
	swept map[string]sweep // by project
}

// New returns a Store.
func New(cfg Config) *Store { return &Store{cfg: cfg, swept: map[string]sweep{}} }

func fileKey(project, hash string) string { return root + project + "/files/" + hash }
func askedKey(ref svc.Ref) string         { return root + ref.Project + "/asked/" + ref.Version }
func listKey(ref svc.Ref) string          { return root + ref.Project + "/lists/" + ref.Version }

// sizes are the bytes of files by their hashes.
type sizes map[string]int64

// sizesOf rejects files of one hash with two sizes.
func sizesOf(files []bundle.File) (sizes, error) {
	s := make(sizes, len(files))
	for _, f := range files {
		if size, twice := s[f.SHA256]; twice && size != f.Size {
			return nil, wrong("the asset %q has %d bytes, and another one of the same hash has %d", f.Path, f.Size, size)
		}
		s[f.SHA256] = f.Size
	}
	return s, nil
}

func wrong(format string, args ...any) *svc.Error {
	return svc.Errorf(svc.Unprocessable, svc.CodeAssetMismatch, format, args...)
}

// encode writes a line for each file, in the order of hashes.
func (s sizes) encode() string {
	var b strings.Builder
	for _, hash := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&b, "%s %d\n", hash, s[hash])
	}
	return b.String()
}

// read reads a list; nil if it does not exist.
func (s *Store) read(ctx context.Context, key string) (sizes, error) {
	text, _, err := objstore.Read(ctx, s.cfg.Bucket, key, 0, -1)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading a list of assets: %w", err)
	}
	list := sizes{}
	for line := range strings.Lines(string(text)) {
		var hash string
		var size int64
		if _, err := fmt.Sscanf(line, "%64s %d\n", &hash, &size); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		list[hash] = size
	}
	return list, nil
}

// stored calls each for the files of a project in the object store, with their hashes.
func (s *Store) stored(ctx context.Context, project string, each func(objstore.Info, string)) error {
	prefix := fileKey(project, "")
	err := objstore.Each(ctx, s.cfg.Bucket, prefix, func(info objstore.Info) error {
		each(info, strings.TrimPrefix(info.Key, prefix))
		return nil
	})
	if err != nil {
		return fmt.Errorf("listing the assets of %s: %w", project, err)
	}
	return nil
}

// Projects returns the projects with assets.
func (s *Store) Projects(ctx context.Context) (ids []string, err error) {
	for after := root; ; {
		page, err := s.cfg.Bucket.List(ctx, root, after, 1)
		if err != nil || len(page) == 0 {
			return ids, err
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(page[0].Key, root), "/")
		ids = append(ids, id)
		after = root + id + "0" // "0" comes right after "/"
	}
}
