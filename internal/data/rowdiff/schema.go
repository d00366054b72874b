package rowdiff

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// definition is a table in the schema; the zero value is no table.
type definition struct {
	root uint32
	sql  string // the statement that creates it
	keys int    // columns of its primary key, if the table has no rowid
}

// Object is a table, an index, a trigger or a view in the schema of a database.
type Object struct{ Type, Name, Table, SQL string }

// Schema returns the objects of a database in the order in which they were made, without
// those of the engine.
func Schema(ctx context.Context, i Image) (list []Object, err error) {
	c := &comparison{limits: Limits{Pages: math.MaxInt}, cache: map[uint32][]byte{}, images: Images{Same: func(uint32) bool { return false }}}
	c.base, c.now = newSide(c, i), newSide(c, i)
	err = c.now.objects(ctx, func(r []column) {
		o := Object{Type: string(r[0].value), Name: string(r[1].value), Table: string(r[2].value), SQL: string(r[4].value)}
		if o.SQL != "" && !strings.HasPrefix(o.Name, "sqlite_") {
			list = append(list, o)
		}
	})
	return list, err
}

// objects calls fn with every row of the schema.
func (s *side) objects(ctx context.Context, fn func([]column)) error {
	if s.pages == 0 {
		return nil
	}
	if _, err := s.header(ctx); err != nil {
		return err
	}
	t, err := s.walk(ctx, definition{root: 1})
	if err != nil {
		return err
	}
	return s.eachCell(ctx, t.rows, func(c cell) error {
		row, err := s.whole(ctx, c)
		if err != nil {
			return err
		}
		r, err := record(row)
		if err != nil || len(r) < 5 {
			return fmt.Errorf("schema: %w", ErrCorrupt)
		}
		fn(r)
		return nil
	})
}

// schema returns the tables by name, without those of the engine.
func (s *side) schema(ctx context.Context) (map[string]definition, error) {
	tables := map[string]definition{}
	var roots []uint32
	err := s.objects(ctx, func(r []column) {
		name, root := string(r[1].value), r[3].integer()
		if string(r[0].value) != "table" || root <= 0 || strings.HasPrefix(name, "sqlite_") {
			return
		}
		sql := string(r[4].value)
		tables[name] = definition{root: uint32(root), sql: sql, keys: keyColumns(sql)} //nolint:gosec // a page; get checks it
		roots = append(roots, uint32(root))                                            //nolint:gosec // the same
	})
	if err != nil {
		return nil, err
	}
	return tables, s.each(ctx, roots, func(pgno uint32, page []byte) error { // together, instead of one by one
		s.keep(pgno, page)
		return nil
	})
}

// eachCell calls fn with every cell of pages.
func (s *side) eachCell(ctx context.Context, pages []uint32, fn func(cell) error) error {
	return s.each(ctx, pages, func(pgno uint32, page []byte) error {
		n, err := s.decode(pgno, page)
		if err != nil || n.kind == tableInterior {
			return err
		}
		for _, c := range n.cells {
			if err := fn(c); err != nil {
				return err
			}
		}
		return nil
	})
}

// column is one value of a record.
type column struct {
	kind  uint64 // the serial type of the file format
	value []byte
}

// integer is the value of a column that has an integer.
func (c column) integer() (v int64) {
	switch {
	case c.kind == 9:
		return 1
	case c.kind == 0 || c.kind > 6:
		return 0
	}
	var b [8]byte
	if c.value[0]&0x80 != 0 {
		b = [8]byte{255, 255, 255, 255, 255, 255, 255, 255}
	}
	copy(b[8-len(c.value):], c.value)
	return int64(binary.BigEndian.Uint64(b[:])) //nolint:gosec // a signed number
}

// record decodes a row.
func record(row []byte) (columns []column, err error) {
	defer func() {
		if recover() != nil {
			err = ErrCorrupt
		}
	}()
	head, at := varint(row)
	kinds, body := row[:head], row[head:]
	for at < len(kinds) {
		kind, n := varint(kinds[at:])
		at += n
		size := width(kind)
		columns = append(columns, column{kind, body[:size]})
		body = body[size:]
	}
	return columns, nil
}

// width is how many bytes a value has.
func width(kind uint64) int {
	switch {
	case kind >= 12:
		return int((kind - 12) / 2) //nolint:gosec // checked by the slice
	case kind <= 4:
		return int(kind)
	case kind == 5:
		return 6
	case kind <= 7:
		return 8
	}
	return 0
}
