package replica

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
)

// Readahead is how many pages a reader should request together.
const Readahead = 16

// indexReads is how many indexes are fetched concurrently; smallBytes bounds the small
// files kept in memory.
const (
	indexReads = 24
	smallBytes = 4 << 20
)

// Source reads pages of a database at one transaction directly from the files of a
// restore plan. It has 12 bytes in memory for each page of the database, and the newest
// small files of the plan, up to 4 MiB, which usually have page 1. A Source is valid
// while its files exist. Safe for concurrent use.
type Source struct {
	bucket   objstore.Bucket
	plan     []branch.File
	pageSize uint32
	where    []uint64 // by page-1: file of the plan << 48 | offset
	size     []uint32 // of the frame; 0 for the lock page, which is in no file
	small    [][]byte // by file: its content, or nil
	keys     []string // by file: its key
}

const offsetBits = 48

// Source opens a plan of this log, see NewSource. If the plan begins with the one of earlier, the
// indexes of its other files alone are read. earlier, which may be nil, must not be used afterwards.
func (l *Log) Source(ctx context.Context, plan []branch.File, earlier *Source) (*Source, error) {
	return newSource(ctx, l.bucket, plan, earlier)
}

// NewSource reads the indexes of a plan, oldest first: one GET for each file,
// and one for a header. An empty plan is an empty database.
func NewSource(ctx context.Context, b objstore.Bucket, plan []branch.File) (*Source, error) {
	return newSource(ctx, b, plan, nil)
}

func newSource(ctx context.Context, b objstore.Bucket, plan []branch.File, earlier *Source) (*Source, error) {
	s := &Source{bucket: b, plan: plan, keys: make([]string, len(plan))}
	for i, f := range plan {
		s.keys[i] = f.Key()
	}
	if earlier.begins(plan) {
		s.where, s.size, s.small = earlier.where, earlier.size, earlier.small
	}
	known := len(s.small)
	s.small = append(s.small, make([][]byte, len(plan)-known)...)
	if len(plan) == 0 {
		return s, nil
	}
	if len(plan) >= 1<<(64-offsetBits) {
		return nil, fmt.Errorf("open plan: %d files are too many", len(plan))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	indexes := s.fetchIndexes(ctx, known)
	hdr, err := s.header(ctx, plan[len(plan)-1])
	if err != nil {
		return nil, err
	}
	if err := s.holds(hdr.Commit); err != nil {
		return nil, err
	}
	s.pageSize = hdr.PageSize
	s.where, s.size = resize(s.where, hdr.Commit), resize(s.size, hdr.Commit)
	for n, f := range plan[known:] {
		x := <-indexes[n]
		if x.err != nil {
			return nil, fmt.Errorf("read index of %s: %w", f.Key(), x.err)
		}
		if err := s.overlay(known+n, x.index); err != nil {
			return nil, err
		}
		s.small[known+n] = x.data
	}
	s.trim()
	return s, s.complete(hdr)
}

// holds checks that the files of the plan can have this many pages, so that nothing is allocated for
// what a corrupt header claims: a header that is read alone has no checksum.
func (s *Source) holds(pages uint32) error {
	most := int64(1) // the lock page, which is in no file
	for _, f := range s.plan {
		most += f.Size / (ltx.PageHeaderSize + 4)
	}
	if int64(pages) > most {
		return corrupt(s.plan[len(s.plan)-1], "it claims a database of %d pages, the files of the plan have at most %d", pages, most)
	}
	return nil
}

// begins reports whether plan begins with the plan of s, which may be nil.
func (s *Source) begins(plan []branch.File) bool {
	return s != nil && len(s.plan) <= len(plan) && slices.EqualFunc(s.plan, plan[:len(s.plan)], func(a, b branch.File) bool {
		return a.Key() == b.Key() && a.Size == b.Size
	})
}

// resize returns list with n elements, new ones zero.
func resize[E any](list []E, n uint32) []E {
	if int64(n) <= int64(len(list)) {
		return list[:n]
	}
	return append(list, make([]E, int(n)-len(list))...)
}

type fetched struct {
	index *pageIndex
	data  []byte // the whole file, when it is small
	err   error
}

// trim drops small files from memory, oldest first, beyond the bound.
func (s *Source) trim() {
	left := smallBytes
	for i := len(s.small) - 1; i >= 0; i-- {
		if left -= len(s.small[i]); left < 0 {
			s.small[i] = nil
		}
	}
}

// fetchIndexes reads the indexes of all files but the first known, indexReads at a time.
func (s *Source) fetchIndexes(ctx context.Context, known int) []chan fetched {
	files := s.plan[known:]
	out := make([]chan fetched, len(files))
	for i := range out {
		out[i] = make(chan fetched, 1)
	}
	var next sync.Mutex
	at := 0
	for range min(indexReads, len(files)) {
		go func() {
			for {
				next.Lock()
				i := at
				at++
				next.Unlock()
				if i >= len(files) {
					return
				}
				x, data, err := fetchIndex(ctx, s.bucket, files[i])
				out[i] <- fetched{x, data, err}
			}
		}()
	}
	return out
}

func (s *Source) header(ctx context.Context, f branch.File) (ltx.Header, error) {
	head, err := readRange(ctx, s.bucket, f, 0, ltx.HeaderSize)
	if err != nil {
		return ltx.Header{}, err
	}
	return headerOf(f, head)
}

// overlay records the pages of file i of the plan, which replace those of older files.
func (s *Source) overlay(i int, x *pageIndex) error {
	return x.each(x.entries, func(f frame) error {
		if int64(f.pgno) <= int64(len(s.where)) {
			s.where[f.pgno-1] = place(i, f.off)
			s.size[f.pgno-1] = f.size
		}
		return nil
	})
}

func place(file int, off int64) uint64 { return uint64(file)<<offsetBits | uint64(off) } //nolint:gosec // neither is negative

// complete checks that every page is in a file.
func (s *Source) complete(hdr ltx.Header) error {
	for i, size := range s.size {
		if pgno := uint32(i) + 1; size == 0 && pgno != hdr.LockPgno() {
			return corrupt(s.plan[len(s.plan)-1], "page %d of %d is in no file of the plan", pgno, len(s.size))
		}
	}
	return nil
}

// PageSize is the size of a page in bytes, 0 for an empty database.
func (s *Source) PageSize() int { return int(s.pageSize) }

// Pages is the size of the database in pages.
func (s *Source) Pages() uint32 { return uint32(len(s.where)) } //nolint:gosec // made from a uint32

// Files is how many files the plan has.
func (s *Source) Files() int { return len(s.plan) }
