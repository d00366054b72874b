package replica

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
)

// ReadEach calls fn with every page of the list, in any order, one call at a time. fn may
// keep the page. It fetches pages that are near each other in a file together. The pages
// must exist. It checks what ReadPages checks.
func (s *Source) ReadEach(ctx context.Context, pages []uint32, fn func(pgno uint32, page []byte) error) error {
	var mu sync.Mutex
	call := func(pgno uint32, page []byte) error {
		mu.Lock()
		defer mu.Unlock()
		return fn(pgno, page)
	}
	wanted := make([]uint32, 0, len(pages))
	for _, pgno := range pages {
		if s.size[pgno-1] > 0 {
			wanted = append(wanted, pgno)
		} else if err := call(pgno, make([]byte, s.pageSize)); err != nil { // the lock page
			return err
		}
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(scattered)
	for _, sp := range s.group(wanted) {
		work.Go(func() error {
			return s.decodeSpan(ctx, sp, func(p uint32, raw []byte) error {
				page := make([]byte, s.pageSize)
				if err := decodeFrame(s.plan[sp.file], p, raw, page, nil); err != nil {
					return err
				}
				return call(p, page)
			})
		})
	}
	return work.Wait()
}

// Same reports whether a page that both sources have is the same frame of the same file.
// Equal pages in different files are not the same.
func (s *Source) Same(o *Source, pgno uint32) bool {
	if s.size[pgno-1] == 0 || o.size[pgno-1] == 0 {
		return s.size[pgno-1] == o.size[pgno-1] // the lock page
	}
	file, off, _ := s.at(pgno)
	other, at, _ := o.at(pgno)
	return off == at && s.keys[file] == o.keys[other]
}
