package rowdiff

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"
)

// batch is how many pages are read together.
const batch = 128

// side is one of the two images.
type side struct {
	c            *comparison
	img          Image
	pages        uint32
	size, usable int               // of a page
	own          map[uint32][]byte // interior pages that only this image has
}

func newSide(c *comparison, img Image) *side {
	return &side{c: c, img: img, pages: img.Pages(), size: img.PageSize(), own: map[uint32][]byte{}}
}

// each calls fn with every page of the list, in its order.
func (s *side) each(ctx context.Context, pages []uint32, fn func(pgno uint32, page []byte) error) error {
	for len(pages) > 0 {
		n := min(len(pages), batch)
		got, err := s.get(ctx, pages[:n])
		if err != nil {
			return err
		}
		for _, pgno := range pages[:n] {
			if err := fn(pgno, got[pgno]); err != nil {
				return err
			}
		}
		pages = pages[n:]
	}
	return nil
}

// get reads pages, within the limits.
func (s *side) get(ctx context.Context, pages []uint32) (map[uint32][]byte, error) {
	got := make(map[uint32][]byte, len(pages))
	var missing []uint32
	for _, pgno := range pages {
		if pgno == 0 || pgno > s.pages {
			return nil, fmt.Errorf("page %d of %d: %w", pgno, s.pages, ErrCorrupt)
		}
		if _, twice := got[pgno]; twice {
			continue
		}
		if got[pgno] = s.cached(pgno); got[pgno] == nil {
			missing = append(missing, pgno)
		}
	}
	if len(missing) == 0 {
		return got, nil
	}
	if u := s.c.limits.Until; s.c.read+len(missing) > s.c.limits.Pages || !u.IsZero() && time.Now().After(u) {
		return nil, errLimit
	}
	s.c.read += len(missing)
	err := s.img.ReadEach(ctx, missing, func(pgno uint32, page []byte) error {
		got[pgno] = page
		return nil
	})
	return got, err
}

func (s *side) cached(pgno uint32) []byte {
	if page := s.own[pgno]; page != nil {
		return page
	}
	if page := s.c.cache[pgno]; page != nil && s.c.same(pgno) {
		return page
	}
	return nil
}

// keep keeps a page in memory.
func (s *side) keep(pgno uint32, page []byte) {
	if s.c.same(pgno) {
		s.c.cache[pgno] = page
	} else {
		s.own[pgno] = page
	}
}

// header reads the first page, which says how many bytes of a page are in use.
func (s *side) header(ctx context.Context) ([]byte, error) {
	got, err := s.get(ctx, []uint32{1})
	if err != nil {
		return nil, err
	}
	page := got[1]
	if len(page) < 512 || string(page[:15]) != "SQLite format 3" {
		return nil, fmt.Errorf("page 1: %w", ErrCorrupt)
	}
	s.usable = s.size - int(page[20])
	s.keep(1, page)
	return page, nil
}

// free returns the pages of the freelist.
func (s *side) free(ctx context.Context) (*bits, error) {
	free := newBits(s.pages)
	first, err := s.header(ctx)
	if err != nil {
		return nil, err
	}
	for trunk := binary.BigEndian.Uint32(first[32:]); trunk != 0; {
		got, err := s.get(ctx, []uint32{trunk})
		if err != nil {
			return nil, err
		}
		if free.has(trunk) {
			return nil, fmt.Errorf("page %d is twice in the freelist: %w", trunk, ErrCorrupt)
		}
		free.set(trunk)
		page := got[trunk]
		n := min(int(binary.BigEndian.Uint32(page[4:])), s.size/4-2)
		for i := range n {
			free.set(binary.BigEndian.Uint32(page[8+4*i:]))
		}
		trunk = binary.BigEndian.Uint32(page)
	}
	return free, nil
}

// bits is a set of page numbers.
type bits struct{ words []uint64 }

func newBits(pages uint32) *bits { return &bits{make([]uint64, pages/64+1)} }

func (b *bits) set(pgno uint32) {
	if i := int(pgno / 64); i < len(b.words) {
		b.words[i] |= 1 << (pgno % 64)
	}
}

func (b *bits) clear(pgno uint32) {
	if i := int(pgno / 64); i < len(b.words) {
		b.words[i] &^= 1 << (pgno % 64)
	}
}

func (b *bits) has(pgno uint32) bool {
	i := int(pgno / 64)
	return i < len(b.words) && b.words[i]&(1<<(pgno%64)) != 0
}

// list returns the set in order.
func (b *bits) list() (pages []uint32) {
	for i, w := range b.words {
		for bit := uint32(0); w>>bit != 0 && bit < 64; bit++ {
			if w&(1<<bit) != 0 {
				pages = append(pages, uint32(i)*64+bit)
			}
		}
	}
	return pages
}
