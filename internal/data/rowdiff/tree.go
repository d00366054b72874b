package rowdiff

import (
	"context"
	"fmt"
)

// tree is the shape of one table. The zero tree is a table that does not exist.
type tree struct {
	keyed    bool     // WITHOUT ROWID
	keys     int      // then: columns of its primary key, which come first in a row
	rows     []uint32 // the pages that have rows; in the order of the keys for tables with rowid
	interior []uint32 // the other pages
}

// walk reads the interior pages of a tree. All leaves are equally deep, so that it reads
// one leaf.
func (s *side) walk(ctx context.Context, of definition) (t tree, err error) {
	root := of.root
	if root == 0 {
		return t, nil
	}
	depth, leaf, err := s.depth(ctx, root)
	if err != nil {
		return t, err
	}
	t.keyed, t.keys = leaf == indexLeaf, of.keys
	level := []uint32{root}
	for range depth {
		t.interior = append(t.interior, level...)
		if level, err = s.childrenOf(ctx, level); err != nil {
			return t, err
		}
		if len(t.interior)+len(level) > int(s.pages) {
			return t, fmt.Errorf("tree of page %d has a circle: %w", root, ErrCorrupt)
		}
	}
	t.rows = level
	if t.keyed { // rows are in interior pages as well
		t.rows, t.interior = append(t.rows, t.interior...), nil
	}
	return t, nil
}

// depth follows the first children to a leaf.
func (s *side) depth(ctx context.Context, root uint32) (depth int, leaf byte, err error) {
	const deepest = 40
	for pgno := root; depth < deepest; depth++ {
		n, err := s.node(ctx, pgno)
		if err != nil {
			return 0, 0, err
		}
		if !n.interior() {
			return depth, n.kind, nil
		}
		pgno = n.children()[0]
	}
	return 0, 0, fmt.Errorf("tree of page %d is too deep: %w", root, ErrCorrupt)
}

// node reads one page and keeps it.
func (s *side) node(ctx context.Context, pgno uint32) (node, error) {
	got, err := s.get(ctx, []uint32{pgno})
	if err != nil {
		return node{}, err
	}
	s.keep(pgno, got[pgno])
	return s.decode(pgno, got[pgno])
}

func (s *side) childrenOf(ctx context.Context, level []uint32) (next []uint32, err error) {
	err = s.each(ctx, level, func(pgno uint32, page []byte) error {
		s.keep(pgno, page)
		n, err := s.decode(pgno, page)
		if err == nil && !n.interior() {
			err = fmt.Errorf("page %d is a leaf among interior pages: %w", pgno, ErrCorrupt)
		}
		next = append(next, n.children()...)
		return err
	})
	return next, err
}
