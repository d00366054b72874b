package dataplane

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
)

// listEvery is the time between two listings of the blobs of a version that has no room left.
const listEvery = 10 * time.Second

// shelf counts the bytes of the version's own blobs in an object store on the same disk:
// those that no row names any more count until they are collected. The first blob of a
// process lists the others.
type shelf struct {
	bucket objstore.Bucket // nil: the object store is elsewhere, nothing is counted
	prefix string

	mu     sync.Mutex // guards the fields below
	bytes  int64
	listed time.Time
}

func newShelf(c Config) *shelf {
	s := &shelf{prefix: branch.BlobPrefix(c.Ref)}
	if c.CountBlobs && c.DiskLimit > 0 {
		s.bucket = c.Bucket
	}
	return s
}

// used is the number of bytes that are known.
func (s *shelf) used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// list counts the blobs in the object store. It needs s.mu.
func (s *shelf) list(ctx context.Context) error {
	all, err := objstore.ListAll(ctx, s.bucket, s.prefix)
	if err != nil {
		return fmt.Errorf("count the objects of the version: %w", err)
	}
	s.bytes, s.listed = 0, time.Now()
	for _, info := range all {
		s.bytes += info.Size
	}
	return nil
}

// takeBlob counts a blob of size bytes before it is stored, and fails if there is no room for
// it. A blob that is then not stored counts until the next listing.
func (r *room) takeBlob(ctx context.Context, size int64) error {
	s := r.shelf
	if s.bucket == nil {
		return nil
	}
	files := r.measure()
	s.mu.Lock()
	defer s.mu.Unlock()
	fits := func() bool { return files+s.bytes+size <= r.limit }
	if s.listed.IsZero() || !fits() && time.Since(s.listed) >= listEvery {
		if err := s.list(ctx); err != nil {
			return err
		}
	}
	if !fits() {
		return r.full()
	}
	s.bytes += size
	return nil
}
