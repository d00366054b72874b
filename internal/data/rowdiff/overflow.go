package rowdiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// head is where a row of several pages begins, in both images.
type head struct {
	leaf, next uint32 // the page of its entry, and its first overflow page
}

func nexts(heads []head) []uint32 {
	list := make([]uint32, len(heads))
	for i, h := range heads {
		list[i] = h.next
	}
	return list
}

// whole returns a row with its overflow pages.
func (s *side) whole(ctx context.Context, c cell) ([]byte, error) {
	row := bytes.Clone(c.local)
	for next := c.next; len(row) < c.size; {
		got, err := s.get(ctx, []uint32{next})
		if err != nil {
			return nil, err
		}
		page := got[next][:s.usable]
		row = append(row, page[4:4+min(len(page)-4, c.size-len(row))]...)
		next = binary.BigEndian.Uint32(page)
	}
	return row, nil
}

// hidden counts the rows that changed in overflow pages only. SQLite writes such a row in
// place, and its leaf page stays as it was. Each page that differs and is explained by
// nothing else must belong to such a row.
func (c *comparison) hidden(ctx context.Context) error {
	open, err := c.unexplained(ctx)
	if err != nil {
		return err
	}
	for _, p := range c.pairs {
		if len(open.list()) == 0 {
			return nil
		}
		if err := c.hiddenIn(ctx, p, open); err != nil {
			p.AtLeast = true
			return err
		}
	}
	return nil
}

// unexplained returns the overflow pages that differ and belong to no row that was
// counted, nor to an index page that differs.
func (c *comparison) unexplained(ctx context.Context) (*bits, error) {
	open := newBits(c.now.pages)
	for pgno := uint32(2); pgno <= c.now.pages; pgno++ {
		if !c.same(pgno) {
			open.set(pgno)
		}
	}
	free, err := c.now.free(ctx)
	if err != nil {
		return nil, err
	}
	for i := range open.words {
		open.words[i] &^= free.words[i]
	}
	open.clear(uint32(1<<30/max(c.now.size, 1)) + 1) //nolint:gosec // the page of the file's locks
	for _, p := range c.pairs {
		for _, pages := range [][]uint32{p.now.rows, p.now.interior} {
			for _, pgno := range pages {
				open.clear(pgno)
			}
		}
	}
	heads, err := c.overflowing(ctx, open)
	if err != nil {
		return nil, err
	}
	for _, p := range c.pairs {
		heads = append(heads, p.changed...)
	}
	return open, c.follow(ctx, heads, func(_ int, pgno uint32) bool { open.clear(pgno); return true })
}

// overflowing leaves only overflow pages in open, and returns the first overflow pages of
// the index pages in it. The first byte of an overflow page is 0 in a file of less than
// 64 GiB.
func (c *comparison) overflowing(ctx context.Context, open *bits) (heads []uint32, err error) {
	err = c.now.each(ctx, open.list(), func(pgno uint32, page []byte) error {
		if page[0] == 0 {
			return nil
		}
		open.clear(pgno)
		if page[0] != indexInterior && page[0] != indexLeaf {
			return nil
		}
		n, err := c.now.decode(pgno, page)
		if err != nil {
			return nil //nolint:nilerr // a page of the file's page map
		}
		for _, cell := range n.cells {
			if cell.next != 0 {
				heads = append(heads, cell.next)
			}
		}
		return nil
	})
	return heads, err
}

// follow calls fn with the overflow pages of rows, all rows in step, until it returns
// false for a row or the row ends. The first argument is the row's place in heads.
func (c *comparison) follow(ctx context.Context, heads []uint32, fn func(row int, pgno uint32) bool) error {
	at := map[int]uint32{}
	for i, pgno := range heads {
		at[i] = pgno
	}
	for steps := uint32(0); len(at) > 0; steps++ {
		if steps > c.now.pages {
			return fmt.Errorf("overflow pages have a circle: %w", ErrCorrupt)
		}
		var pages []uint32
		next := map[uint32]uint32{}
		for i, pgno := range at {
			if !fn(i, pgno) {
				delete(at, i)
			} else {
				pages = append(pages, pgno)
			}
		}
		err := c.now.each(ctx, pages, func(pgno uint32, page []byte) error {
			next[pgno] = binary.BigEndian.Uint32(page)
			return nil
		})
		if err != nil {
			return err
		}
		for i, pgno := range at {
			if at[i] = next[pgno]; at[i] == 0 {
				delete(at, i)
			}
		}
	}
	return nil
}

// hiddenIn counts the rows of one table that have pages of open, and clears those.
func (c *comparison) hiddenIn(ctx context.Context, p *pair, open *bits) error {
	heads := slices.Clone(p.kept)
	_, now := c.unshared(p)
	differ := newBits(c.now.pages)
	for _, pgno := range now {
		differ.set(pgno)
	}
	var shared []uint32
	for _, pgno := range p.now.rows {
		if !differ.has(pgno) {
			shared = append(shared, pgno)
		}
	}
	err := c.now.eachCell(ctx, shared, func(cell cell) error {
		if cell.next != 0 {
			heads = append(heads, head{cell.leaf, cell.next})
		}
		return nil
	})
	if err != nil {
		return err
	}
	found := map[uint32]int{} // rows by a page of theirs
	err = c.follow(ctx, nexts(heads), func(row int, pgno uint32) bool {
		if open.has(pgno) {
			open.clear(pgno)
			found[pgno] = row
		}
		return true
	})
	if err != nil {
		return err
	}
	rows, err := c.written(ctx, found)
	p.Updated += int64(len(rows))
	if err != nil {
		return err
	}
	return c.emitHidden(ctx, p, heads, rows)
}

// written returns the rows of those pages whose contents differ: Same may not know.
func (c *comparison) written(ctx context.Context, found map[uint32]int) (rows map[int]bool, err error) {
	rows = map[int]bool{}
	pages := slices.Sorted(maps.Keys(found))
	for list := range slices.Chunk(pages, batch) {
		is, err := c.now.get(ctx, list)
		if err != nil {
			return rows, err
		}
		old := slices.DeleteFunc(slices.Clone(list), func(pgno uint32) bool { return pgno > c.base.pages })
		was, err := c.base.get(ctx, old)
		if err != nil {
			return rows, err
		}
		for _, pgno := range list {
			if !bytes.Equal(was[pgno], is[pgno]) {
				rows[found[pgno]] = true
			}
		}
	}
	return rows, nil
}
