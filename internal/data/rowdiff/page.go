package rowdiff

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// The types of B-tree pages.
const (
	indexInterior = 2
	tableInterior = 5
	indexLeaf     = 10
	tableLeaf     = 13
)

// cell is one entry of a page. It refers to the page's bytes.
type cell struct {
	leaf  uint32 // the page that has the entry
	child uint32 // of an interior page; else 0
	rowid int64  // of a table with rowid; else 0
	size  int    // bytes of the row, local ones included
	local []byte // the part of the row in this page
	next  uint32 // the first overflow page; 0 for none
}

// sameHere reports whether two rows have equal parts in their leaf pages.
func (c cell) sameHere(o cell) bool { return c.size == o.size && bytes.Equal(c.local, o.local) }

// node is a decoded B-tree page.
type node struct {
	kind  byte
	cells []cell
	right uint32 // of an interior page: the last child
}

func (n node) interior() bool { return n.kind == indexInterior || n.kind == tableInterior }

// children are the children of an interior page in the order of their keys.
func (n node) children() []uint32 {
	if !n.interior() {
		return nil
	}
	list := make([]uint32, 0, len(n.cells)+1)
	for _, c := range n.cells {
		list = append(list, c.child)
	}
	return append(list, n.right)
}

// decode reads a B-tree page.
func (s *side) decode(pgno uint32, page []byte) (n node, err error) {
	defer func() {
		if recover() != nil { // an offset beyond the page
			err = fmt.Errorf("page %d: %w", pgno, ErrCorrupt)
		}
	}()
	at := 0
	if pgno == 1 {
		at = 100 // the header of the file
	}
	n.kind = page[at]
	count := int(binary.BigEndian.Uint16(page[at+3:]))
	pointers := at + 8
	switch n.kind {
	case indexInterior, tableInterior:
		n.right = binary.BigEndian.Uint32(page[at+8:])
		pointers += 4
	case indexLeaf, tableLeaf:
	default:
		return n, fmt.Errorf("page %d has the type %d: %w", pgno, n.kind, ErrCorrupt)
	}
	n.cells = make([]cell, count)
	for i := range n.cells {
		off := int(binary.BigEndian.Uint16(page[pointers+2*i:]))
		n.cells[i] = s.cell(n.kind, page[off:s.usable])
		n.cells[i].leaf = pgno
	}
	return n, nil
}

// cell decodes one entry. It panics where the entry exceeds the page.
func (s *side) cell(kind byte, raw []byte) (c cell) {
	if kind == indexInterior || kind == tableInterior {
		c.child = binary.BigEndian.Uint32(raw)
		raw = raw[4:]
	}
	if kind == tableInterior {
		return c // its key repeats a row of a leaf
	}
	size, n := varint(raw)
	raw, c.size = raw[n:], int(size) //nolint:gosec // compared below
	if size > 1<<31 {
		panic("too large")
	}
	if kind == tableLeaf {
		rowid, n := varint(raw)
		raw, c.rowid = raw[n:], int64(rowid) //nolint:gosec // a signed number
	}
	here := s.localSize(kind, c.size)
	c.local = raw[:here]
	if here < c.size {
		c.next = binary.BigEndian.Uint32(raw[here:])
	}
	return c
}

// localSize is how many bytes of a row are in its B-tree page, by the file format.
func (s *side) localSize(kind byte, size int) int {
	most, least := s.usable-35, (s.usable-12)*32/255-23
	if kind != tableLeaf {
		most = (s.usable-12)*64/255 - 23
	}
	if size <= most {
		return size
	}
	if n := least + (size-least)%(s.usable-4); n <= most {
		return n
	}
	return least
}

// varint decodes SQLite's form of a number. It panics beyond the end.
func varint(b []byte) (v uint64, n int) {
	for n = range 8 {
		v = v<<7 | uint64(b[n]&0x7f)
		if b[n] < 0x80 {
			return v, n + 1
		}
	}
	return v<<8 | uint64(b[8]), 9
}
