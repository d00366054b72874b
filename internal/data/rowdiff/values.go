package rowdiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"slices"
)

// Row is a row that differs between the two states.
type Row struct {
	Table           string
	BaseSQL, NowSQL string  // the CREATE TABLE statements of the table; "" for a state that does not have it
	Base, Now       *Record // nil for a state that does not have the row
}

// Record is a row in one state of the database.
type Record struct {
	RowID int64 // 0 in a table WITHOUT ROWID
	// Values are the columns as the file has them: without virtual generated columns, the
	// columns of the primary key first in a table WITHOUT ROWID, NULL for the column that is
	// another name of the rowid, whole numbers for REAL columns where they are exact, and
	// without columns that were added after the row was written.
	Values []Value
}

// Value is the value of a column: nil, int64, float64, string or []byte.
type Value any

// emit passes a row to Images.Row; nil is a row that the image does not have.
func (c *comparison) emit(ctx context.Context, p *pair, old, here *cell) error {
	if c.images.Row == nil {
		return nil
	}
	was, err := c.base.record(ctx, old)
	if err != nil {
		return err
	}
	is, err := c.now.record(ctx, here)
	if err != nil {
		return err
	}
	return c.images.Row(Row{Table: p.Name, BaseSQL: p.was.sql, NowSQL: p.is.sql, Base: was, Now: is})
}

// emitEqual passes a row that is equal in both images, if such rows are wanted.
func (c *comparison) emitEqual(ctx context.Context, p *pair, old, here *cell) error {
	if c.images.Every == nil || !c.images.Every(p.Name) {
		return nil
	}
	return c.emit(ctx, p, old, here)
}

// emitHidden passes rows whose entries are equal in both images. Each is found again in
// its leaf page, so that not all rows are in memory.
func (c *comparison) emitHidden(ctx context.Context, p *pair, heads []head, rows map[int]bool) error {
	if c.images.Row == nil {
		return nil
	}
	wanted, pages := map[head]bool{}, []uint32{}
	for i := range rows {
		wanted[heads[i]] = true
		pages = append(pages, heads[i].leaf)
	}
	slices.Sort(pages)
	return c.now.eachCell(ctx, slices.Compact(pages), func(one cell) error {
		if !wanted[head{one.leaf, one.next}] {
			return nil
		}
		return c.emit(ctx, p, &one, &one)
	})
}

// record reads a row.
func (s *side) record(ctx context.Context, at *cell) (*Record, error) {
	if at == nil {
		return nil, nil // the image does not have the row
	}
	row, err := s.whole(ctx, *at)
	if err != nil {
		return nil, err
	}
	columns, err := record(row)
	if err != nil {
		return nil, err
	}
	r := &Record{RowID: at.rowid, Values: make([]Value, len(columns))}
	for i, one := range columns {
		r.Values[i] = one.decoded()
	}
	return r, nil
}

// decoded is the value of a column.
func (c column) decoded() Value { //nolint:ireturn // one of five types
	const (
		null, float  = 0, 7
		firstOfBytes = 12
	)
	switch {
	case c.kind == null:
		return nil
	case c.kind == float:
		return math.Float64frombits(binary.BigEndian.Uint64(c.value))
	case c.kind < firstOfBytes:
		return c.integer()
	case c.kind%2 == 0:
		return bytes.Clone(c.value)
	}
	return string(c.value)
}
