package rowdiff

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
)

// byRowID merges the rows of both images in the order of their rowids, so that what was
// counted before a limit is right.
func (c *comparison) byRowID(ctx context.Context, p *pair, base, now []uint32) error {
	was, is := &cursor{side: c.base, pages: base}, &cursor{side: c.now, pages: now}
	if err := was.next(ctx); err != nil {
		return err
	}
	if err := is.next(ctx); err != nil {
		return err
	}
	for was.cell != nil || is.cell != nil {
		old, here := was.cell, is.cell
		switch {
		case old == nil || here == nil || old.rowid == here.rowid:
		case old.rowid < here.rowid:
			here = nil
		default:
			old = nil
		}
		if err := c.count(ctx, p, old, here); err != nil {
			return err
		}
		if old != nil {
			if err := was.next(ctx); err != nil {
				return err
			}
		}
		if here != nil {
			if err := is.next(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// count counts one row; nil is a row that the image does not have.
func (c *comparison) count(ctx context.Context, p *pair, old, here *cell) error {
	switch {
	case here == nil:
		p.Deleted++
		return c.emit(ctx, p, old, nil)
	case old == nil:
		p.Inserted++
		if err := c.emit(ctx, p, nil, here); err != nil {
			return err
		}
	default:
		equal, err := c.equalRows(ctx, *old, *here)
		if err != nil {
			return err
		}
		if equal {
			if err := c.emitEqual(ctx, p, old, here); err != nil {
				return err
			}
			if here.next != 0 && here.next == old.next {
				p.kept = append(p.kept, head{here.leaf, here.next})
				return nil
			}
		} else {
			p.Updated++
			if err := c.emit(ctx, p, old, here); err != nil {
				return err
			}
		}
	}
	if here.next != 0 {
		p.changed = append(p.changed, here.next)
	}
	return nil
}

// equalRows compares two rows. Overflow pages in equal places are compared later, by
// hidden.
func (c *comparison) equalRows(ctx context.Context, a, b cell) (bool, error) {
	if !a.sameHere(b) {
		return false, nil
	}
	if a.next == b.next {
		return true, nil
	}
	was, err := c.base.whole(ctx, a)
	if err != nil {
		return false, err
	}
	is, err := c.now.whole(ctx, b)
	return bytes.Equal(was, is), err
}

// cursor yields the cells of leaf pages.
type cursor struct {
	side  *side
	pages []uint32
	ahead []cell
	cell  *cell // nil at the end
}

func (u *cursor) next(ctx context.Context) error {
	for len(u.ahead) == 0 {
		if u.cell = nil; len(u.pages) == 0 {
			return nil
		}
		n := min(len(u.pages), batch)
		err := u.side.eachCell(ctx, u.pages[:n], func(c cell) error {
			u.ahead = append(u.ahead, c)
			return nil
		})
		if err != nil {
			return err
		}
		u.pages = u.pages[n:]
	}
	u.cell, u.ahead = &u.ahead[0], u.ahead[1:]
	return nil
}

// byKey compares tables WITHOUT ROWID, or a table that became one: the order of their
// keys depends on collations, so that all rows of the pages are in memory.
func (c *comparison) byKey(ctx context.Context, p *pair, base, now []uint32) error {
	if n := len(base) + len(now); c.read+n > c.limits.Pages || c.limits.Keyed > 0 && n > c.limits.Keyed {
		return errLimit
	}
	was, err := c.base.byKey(ctx, base, p.base)
	if err != nil {
		return err
	}
	is, err := c.now.byKey(ctx, now, p.now)
	if err != nil {
		return err
	}
	keys := maps.Clone(was)
	maps.Copy(keys, is)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if err := c.count(ctx, p, was[key], is[key]); err != nil {
			return err
		}
	}
	return nil
}

// byKey returns the rows of pages by key.
func (s *side) byKey(ctx context.Context, pages []uint32, t tree) (map[string]*cell, error) {
	rows := map[string]*cell{}
	err := s.eachCell(ctx, pages, func(c cell) error {
		key := fmt.Sprint("rowid ", c.rowid)
		if t.keyed {
			row, err := s.whole(ctx, c) // the key may exceed the page
			if err != nil {
				return err
			}
			if key, err = keyOf(row, t.keys); err != nil {
				return err
			}
		}
		rows[key] = &c
		return nil
	})
	return rows, err
}

// keyOf returns the first columns of a row; all of them when the key is not known.
func keyOf(row []byte, keys int) (string, error) {
	columns, err := record(row)
	if err != nil {
		return "", err
	}
	if keys == 0 || keys > len(columns) {
		keys = len(columns)
	}
	var b []byte
	for _, c := range columns[:keys] {
		b = fmt.Appendf(b, "%d:%q,", c.kind, c.value)
	}
	return string(b), nil
}
