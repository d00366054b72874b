package rowsql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/data/rowdiff"
)

// State is a row in one state of its table.
type State struct {
	ID     string   // the same text for the same row in both states
	Key    []Column // what identifies the row
	Values []Column

	byRowID bool // the table has no other key
}

// State reads a row, with the defaults of columns that were added later. Errors: ErrTable,
// rowdiff.ErrCorrupt.
func (t *Tables) State(sql string, r rowdiff.Record) (s State, err error) {
	of, err := t.table(sql)
	if err != nil {
		return s, err
	}
	if s.Values, err = of.named(r); err != nil {
		return s, err
	}
	for _, c := range of.columns[len(r.Values):] {
		if !c.generated {
			s.Values = append(s.Values, Column{c.name, c.initial})
		}
	}
	s.Key, s.byRowID = of.identity(r, s.Values), of.key == nil
	// Keys of tables with rowids may be NULL, in several rows.
	if s.byRowID || slices.ContainsFunc(s.Key, func(c Column) bool { return c.Value == nil }) {
		s.ID = fmt.Sprint("rowid ", r.RowID)
		if key := of.rowid(r); key != nil {
			s.Key = key
		}
		return s, nil
	}
	s.ID = pairs(s.Key, " IS ", " AND ")
	return s, nil
}

// Placed returns the same text for tables where rows with one key have one place in the file, so that
// package rowdiff returns both states of a row together; "" for other tables.
func (t *Tables) Placed(sql string) (string, error) {
	of, err := t.table(sql)
	switch {
	case err != nil:
		return "", err
	case of.without:
		return "key " + strings.Join(of.key, ","), nil
	case of.alias != "":
		return "alias " + of.alias, nil
	case of.key == nil:
		return "rowid", nil
	}
	return "", nil
}

// Content is the same text for the same values, and another one for values that differ in their
// types alone.
func (s *State) Content() string { return pairs(s.Values, " = ", ", ") }

// Guarded returns the statement that turns was into is, nil for a row that does not exist, and
// changes nothing where the row no longer has the values of was.
func Guarded(table string, was, is *State) string {
	switch {
	case was == nil && is.byRowID && !hasColumn(is.Values, is.Key[0].Name):
		return insertion(table, append(slices.Clone(is.Key), is.Values...))
	case was == nil:
		return insertion(table, is.Values)
	case is == nil:
		return "DELETE FROM " + name(table) + where(was.all())
	}
	return "UPDATE " + name(table) + " SET " + pairs(changed(was.Values, is.Values), " = ", ", ") + where(was.all())
}

// all returns the key and the other values.
func (s *State) all() []Column {
	all := slices.Clone(s.Key)
	for _, c := range s.Values {
		if !hasColumn(all, c.Name) {
			all = append(all, c)
		}
	}
	return all
}

func hasColumn(list []Column, name string) bool {
	return slices.ContainsFunc(list, func(c Column) bool { return strings.EqualFold(c.Name, name) })
}
