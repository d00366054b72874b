package rowsql

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/data/rowdiff"
)

// Op is what happened to a row.
type Op string

// The operations.
const (
	Insert Op = "insert"
	Update Op = "update"
	Delete Op = "delete"
)

// Change is a row that differs.
type Change struct {
	Op     Op
	Key    []Column // what identifies the row
	Values []Column // of the row now; nil for a deleted one
	SQL    string   // the statement that repeats the change, without a semicolon
}

// OpOf returns what happened to a row.
func OpOf(r rowdiff.Row) Op {
	switch {
	case r.Base == nil:
		return Insert
	case r.Now == nil:
		return Delete
	}
	return Update
}

// Change describes a row. Errors: ErrTable, rowdiff.ErrCorrupt.
func (t *Tables) Change(r rowdiff.Row) (c Change, err error) {
	var was []Column
	c.Op = OpOf(r)
	if r.Base != nil {
		if was, c.Key, err = t.state(r.BaseSQL, *r.Base); err != nil {
			return c, fmt.Errorf("table %s: %w", r.Table, err)
		}
	}
	if r.Now != nil {
		var key []Column
		if c.Values, key, err = t.state(r.NowSQL, *r.Now); err != nil {
			return c, fmt.Errorf("table %s: %w", r.Table, err)
		}
		if c.Key == nil {
			c.Key = key
		}
	}
	switch c.Op {
	case Insert:
		c.SQL = insertion(r.Table, c.Values)
	case Update:
		c.SQL = "UPDATE " + name(r.Table) + " SET " + pairs(changed(was, c.Values), " = ", ", ") + where(c.Key)
	case Delete:
		c.SQL = "DELETE FROM " + name(r.Table) + where(c.Key)
	}
	return c, nil
}

// state returns the columns of a row and those that identify it.
func (t *Tables) state(sql string, r rowdiff.Record) (values, key []Column, err error) {
	of, err := t.table(sql)
	if err != nil {
		return nil, nil, err
	}
	values, err = of.named(r)
	return values, of.identity(r, values), err
}

// identity returns the columns of the primary key, or the rowid, or else all columns.
func (t *table) identity(r rowdiff.Record, values []Column) (key []Column) {
	for _, name := range t.key {
		if i := slices.IndexFunc(values, func(c Column) bool { return c.Name == name }); i >= 0 {
			key = append(key, values[i])
		}
	}
	if key != nil {
		return key
	}
	if key = t.rowid(r); key != nil {
		return key
	}
	return values
}

// rowid returns the rowid under a name that no column has; nil if each name has one.
func (t *table) rowid(r rowdiff.Record) []Column {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if !slices.ContainsFunc(t.columns, func(c column) bool { return strings.EqualFold(c.name, name) }) {
			return []Column{{name, r.RowID}}
		}
	}
	return nil
}

// changed returns the columns whose values differ; all if none does.
func changed(was, is []Column) (list []Column) {
	for _, c := range is {
		i := slices.IndexFunc(was, func(o Column) bool { return o.Name == c.Name })
		if i < 0 || !reflect.DeepEqual(was[i].Value, c.Value) {
			list = append(list, c)
		}
	}
	if list == nil {
		return is
	}
	return list
}
